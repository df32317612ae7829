/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>

#include "clients/cluster/broker/mosquitto-conf.h"
#include "pki/file.h"

#define FILE_MAX (1024u * 1024)
#define OWN_FILE "alidade.conf"

/* Options that belong to the last listener named before them, or to all if none was, including those of
 * mosquitto 2.1. */
static const char *const of_listeners[] = { "accept_protocol_versions", "acl_file", "allow_anonymous",
        "allow_zero_length_clientid", "auth_plugin", "auto_id_prefix", "bind_interface", "cafile", "capath",
        "certfile", "ciphers", "ciphers_tls1.3", "crlfile", "dhparamfile", "disable_client_cert_date_checks",
        "enable_proxy_protocol", "http_dir", "keyfile", "listener_allow_anonymous", "listener_auto_id_prefix",
        "max_connections", "max_qos", "max_topic_alias", "max_topic_alias_broker", "maximum_qos",
        "mount_point", "password_file", "plugin", "plugin_use", "protocol", "proxy_protocol_v2_require_tls",
        "psk_file", "psk_hint", "require_certificate", "socket_domain", "tls_engine", "tls_engine_kpass_sha1",
        "tls_keyform", "tls_version", "use_identity_as_username", "use_subject_as_username",
        "use_username_as_clientid", "websockets_origin", NULL };

/* Mosquitto does not start if one of these options comes before "per_listener_settings true"; before 2.1, not
 * even if that line only repeats an earlier one. */
static const char *const before_rights[] = { "acl_file", "allow_anonymous", "allow_zero_length_clientid",
        "auth_plugin", "auto_id_prefix", "password_file", "plugin", "psk_file", NULL };

/* Plugins that refuse everything that they do not allow. */
static const char *const rights_plugins[] = { "mosquitto_acl_file.so", "mosquitto_dynamic_security.so",
        NULL };

static const char *const limit_names[ALD_MOSQUITTO_N_LIMITS] = {
        [ALD_MOSQUITTO_PACKET_SIZE] = "max_packet_size",
        [ALD_MOSQUITTO_MESSAGE_SIZE] = "message_size_limit",
        [ALD_MOSQUITTO_QUEUED_MESSAGES] = "max_queued_messages",
        [ALD_MOSQUITTO_QUEUED_BYTES] = "max_queued_bytes",
        [ALD_MOSQUITTO_INFLIGHT_MESSAGES] = "max_inflight_messages",
};

/* The plugin to which the plugin_opt_ options that follow belong. */
typedef enum OptionsOwner { OPTIONS_OF_NONE, OPTIONS_OF_OURS, OPTIONS_OF_ANOTHER } OptionsOwner;

/* State of reading the configuration. */
typedef struct Reader {
        const char *folder;
        bool included;      /* the file is from a folder, where mosquitto includes nothing more */
        bool includes;      /* the folder with our drop-in was read */
        bool per_listener;  /* listeners do not share users and rights */
        bool in_listener;   /* the last listener is not ours */
        bool has_rights;    /* that listener has an ACL, or a plugin that is one */
        char *plugin;       /* another plugin of that listener, or NULL */
        char *listener;     /* file and line where that listener begins */
        char *rights;       /* file, line and name of the first option about rights */
        GHashTable *loaded; /* plugins of plugin_load: name → path */
        OptionsOwner options;
        AldMosquittoConf conf;
        char *problem; /* the first problem found */
} Reader;

static void set_first_problem(Reader *reader, char *problem)
{
        if (reader->problem)
                g_free(problem);
        else
                reader->problem = problem;
}

/* Checks the access rules of the last listener, when another one begins or everything was read. */
static void end_listener(Reader *reader)
{
        if (reader->in_listener && !reader->has_rights && reader->plugin)
                set_first_problem(reader,
                        g_strdup_printf(
                                "%s: another listener of this mosquitto takes its access rules from the "
                                "plugin %s, which may let anyone publish for any node. Remove the "
                                "listener, give it an acl_file after \"per_listener_settings true\", or "
                                "run the broker of the cluster on another machine",
                                reader->listener, reader->plugin));
        else if (reader->in_listener && !reader->has_rights)
                set_first_problem(reader,
                        g_strdup_printf("%s: another listener of this mosquitto has no access rules of its "
                                        "own, so that anyone could publish for any node through it. Remove "
                                        "it, give it an acl_file after \"per_listener_settings true\", or "
                                        "run the broker of the cluster on another machine",
                                reader->listener));
        reader->in_listener = reader->has_rights = false;
        g_clear_pointer(&reader->plugin, g_free);
        g_clear_pointer(&reader->listener, g_free);
}

static bool is_true(const char *value)
{
        return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

/* Handles a plugin of a listener, given by its path. */
static void take_plugin(Reader *reader, const char *path)
{
        g_autofree char *name = g_path_get_basename(path);

        reader->options = OPTIONS_OF_ANOTHER;
        if (g_strv_contains(rights_plugins, name)) {
                reader->has_rights = true;
                return;
        }
        g_free(reader->plugin);
        reader->plugin = g_strdup(path);
}

/* Handles "NAME PATH", which has no effect until a listener uses it. */
static void take_loaded_plugin(Reader *reader, char *value)
{
        char *path = value + strcspn(value, " \t");

        reader->options = OPTIONS_OF_ANOTHER;
        if (*path == '\0')
                return;
        *path++ = '\0';
        g_hash_table_replace(reader->loaded, g_strdup(value), g_strdup(g_strstrip(path)));
}

static void take_rights(Reader *reader, const char *where, const char *key, const char *value)
{
        if (!reader->rights && g_strv_contains(before_rights, key))
                reader->rights = g_strdup_printf("%s: %s", where, key);
        if (strcmp(key, "acl_file") == 0)
                reader->has_rights |= reader->per_listener;
        else if (strcmp(key, "plugin_use") == 0)
                take_plugin(reader, g_hash_table_lookup(reader->loaded, value) ?: value);
        else if (strcmp(key, "plugin") == 0 || strcmp(key, "auth_plugin") == 0)
                take_plugin(reader, value);
        else if (g_str_has_suffix(key, "allow_anonymous") && is_true(value))
                set_first_problem(reader,
                        g_strdup_printf("%s: a listener of this mosquitto is open to everyone. Remove "
                                        "it, or run the broker of the cluster on another machine",
                                where));
}

static void take_of_listener(Reader *reader, const char *where, const char *key, const char *value)
{
        if (!reader->in_listener)
                set_first_problem(reader,
                        g_strdup_printf(
                                "%s: %s would change the listener of the cluster, or prevent mosquitto from "
                                "starting with it. Remove it, or put it after a listener of its own",
                                where, key));
        take_rights(reader, where, key, value);
}

static void take_per_listener(Reader *reader, const char *where, const char *value)
{
        if (!is_true(value))
                set_first_problem(reader,
                        g_strdup_printf("%s: per_listener_settings must be true. Remove the line", where));
        else if (reader->rights)
                set_first_problem(reader,
                        g_strdup_printf(
                                "%s comes before \"per_listener_settings true\" in %s, so that "
                                "mosquitto does not start. Put \"per_listener_settings true\" into the "
                                "first line of mosquitto.conf, and nowhere else",
                                reader->rights, where));
        reader->per_listener = true;
}

static void take_plugin_option(Reader *reader, const char *where, const char *key)
{
        if (reader->options != OPTIONS_OF_ANOTHER)
                set_first_problem(reader,
                        g_strdup_printf("%s: %s would %s. Put it after a plugin of its own, or remove it",
                                where, key,
                                reader->options == OPTIONS_OF_OURS ? "change the plugin of the cluster"
                                                                   : "prevent mosquitto from starting"));
}

/* Handles a limit; 0 and negative values mean no limit. */
static void take_limit(Reader *reader, const char *where, const char *key, const char *value)
{
        for (size_t i = 0; i < ALD_MOSQUITTO_N_LIMITS; i++) {
                AldMosquittoLimit *limit = &reader->conf.limits[i];

                if (strcmp(key, limit_names[i]) != 0)
                        continue;
                g_free(limit->where);
                *limit = (AldMosquittoLimit){ .is_set = true,
                        .value = (uint64_t) MAX(g_ascii_strtoll(value, NULL, 10), 0),
                        .is_later = reader->includes,
                        .where = g_strdup(where) };
                return;
        }
}

/* Handles options for all listeners that would make mosquitto refuse the nodes of a cluster. */
static void take_refusal(Reader *reader, const char *where, const char *key, const char *value)
{
        if (strcmp(key, "clientid_prefixes") == 0)
                set_first_problem(reader,
                        g_strdup_printf("%s: clientid_prefixes would refuse the nodes of the cluster, whose "
                                        "client ids are their node ids. Remove it, or run the broker of the "
                                        "cluster on another machine",
                                where));
        else if (strcmp(key, "retain_available") == 0 && !is_true(value))
                set_first_problem(reader,
                        g_strdup_printf("%s: a mosquitto without retained messages would refuse the nodes of "
                                        "the cluster. Remove the line, or run the broker of the cluster on "
                                        "another machine",
                                where));
}

static void read_folder(Reader *reader, const char *path);

static void take_option(Reader *reader, const char *where, const char *key, char *value)
{
        if (strcmp(key, "include_dir") == 0) {
                if (!reader->included)
                        read_folder(reader, value);
        } else if (strcmp(key, "per_listener_settings") == 0)
                take_per_listener(reader, where, value);
        else if (strcmp(key, "listener") == 0 || strcmp(key, "port") == 0 ||
                 strcmp(key, "bind_address") == 0) {
                end_listener(reader);
                reader->in_listener = reader->conf.shared = true;
                reader->listener = g_strdup(where);
        } else if (strcmp(key, "global_plugin") == 0) {
                reader->options = OPTIONS_OF_ANOTHER;
                set_first_problem(reader,
                        g_strdup_printf(
                                "%s: a global_plugin may decide on the rights of every listener, also "
                                "of the one of the cluster. Use plugin_load, and plugin_use in each "
                                "listener that is to have it, or run the broker of the cluster on "
                                "another machine",
                                where));
        } else if (strcmp(key, "plugin_load") == 0)
                take_loaded_plugin(reader, value);
        else if (g_str_has_prefix(key, "plugin_opt_") || g_str_has_prefix(key, "auth_opt_"))
                take_plugin_option(reader, where, key);
        else if (g_strv_contains(of_listeners, key))
                take_of_listener(reader, where, key, value);
        else {
                take_limit(reader, where, key, value);
                take_refusal(reader, where, key, value);
        }
}

static void read_file(Reader *reader, const char *path)
{
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        size_t n;
        int r;

        r = ald_pki_file_read(path, FILE_MAX, &text, &n);
        if (r < 0) {
                set_first_problem(reader, g_strdup_printf("%s: %s", path, g_strerror(-r)));
                return;
        }
        lines = g_strsplit(text, "\n", -1);
        for (unsigned i = 0; lines[i]; i++) {
                g_autofree char *where = g_strdup_printf("%s:%u", path, i + 1);
                char *key = g_strstrip(lines[i]), *value = key + strcspn(key, " \t");

                if (*key == '\0' || *key == '#')
                        continue;
                if (*value)
                        *value++ = '\0';
                take_option(reader, where, key, g_strstrip(value));
        }
}

static bool is_own_folder(const Reader *reader, const char *path)
{
        g_autofree char *own = g_build_filename(reader->folder, "conf.d", NULL);
        struct stat a, b;

        return stat(path, &a) == 0 && stat(own, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcasecmp(*(const char *const *) a, *(const char *const *) b);
}

/* Accounts for our drop-in without reading it: it may not exist yet, or be of an earlier version. It has
 * options about rights. */
static void skip_own_file(Reader *reader, const char *path)
{
        end_listener(reader);
        reader->conf.per_listener = reader->per_listener;
        if (!reader->per_listener)
                take_per_listener(reader, path, "true");
        if (!reader->rights)
                reader->rights = g_strdup_printf("%s: allow_anonymous", path);
        reader->includes = true;
        reader->options = OPTIONS_OF_OURS;
}

/* Reads the files of a folder in the order in which mosquitto reads them. */
static void read_folder(Reader *reader, const char *path)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        bool own = is_own_folder(reader, path);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_str_has_suffix(name, ".conf") && !(own && strcmp(name, OWN_FILE) == 0))
                        g_ptr_array_add(names, g_strdup(name));
        if (own)
                g_ptr_array_add(names, g_strdup(OWN_FILE));
        g_ptr_array_sort(names, compare_names);
        reader->included = true;
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);

                if (own && strcmp(names->pdata[i], OWN_FILE) == 0)
                        skip_own_file(reader, file);
                else
                        read_file(reader, file);
        }
        reader->included = false;
}

void ald_mosquitto_conf_clear(AldMosquittoConf *conf)
{
        for (size_t i = 0; i < ALD_MOSQUITTO_N_LIMITS; i++)
                g_clear_pointer(&conf->limits[i].where, g_free);
}

static void reader_clear(Reader *reader)
{
        ald_mosquitto_conf_clear(&reader->conf);
        g_free(reader->plugin);
        g_free(reader->listener);
        g_free(reader->rights);
        g_clear_pointer(&reader->loaded, g_hash_table_unref);
        g_free(reader->problem);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

/* Checks that limits of size admit the records of the cluster. */
static void check_sizes(Reader *reader)
{
        static const AldMosquittoLimitIndex sizes[] = { ALD_MOSQUITTO_PACKET_SIZE,
                ALD_MOSQUITTO_MESSAGE_SIZE };

        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
                const AldMosquittoLimit *limit = &reader->conf.limits[sizes[i]];
                /* Our drop-in does not set the limit of messages, and replaces an earlier limit of
                 * packets. */
                bool counts = limit->is_later || sizes[i] == ALD_MOSQUITTO_MESSAGE_SIZE;

                if (limit->is_set && counts && limit->value > 0 && limit->value < ALD_MOSQUITTO_PACKET_BYTES)
                        set_first_problem(reader,
                                g_strdup_printf("%s: with %s %" PRIu64
                                                ", mosquitto would refuse records of the "
                                                "cluster, which take up to %u bytes. Remove the line, or set "
                                                "it to that",
                                        limit->where, limit_names[sizes[i]], limit->value,
                                        ALD_MOSQUITTO_PACKET_BYTES));
        }
}

int ald_mosquitto_conf_read(const char *folder, AldMosquittoConf *ret, char **ret_reason)
{
        g_autofree char *path = g_build_filename(folder, "mosquitto.conf", NULL);
        g_auto(Reader) reader = { .folder = folder,
                .loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) };
        struct stat st;

        if (stat(path, &st) < 0) {
                *ret_reason = g_strdup_printf("mosquitto, the broker, is not installed: %s does not exist. "
                                              "Install the package mosquitto",
                        path);
                return -ENOENT;
        }
        read_file(&reader, path);
        end_listener(&reader);
        if (!reader.includes)
                set_first_problem(
                        &reader, g_strdup_printf("%s does not read %s/conf.d. Add the line \"include_dir "
                                                 "%s/conf.d\" at its end, and create that folder",
                                         path, folder, folder));
        check_sizes(&reader);
        if (reader.problem) {
                *ret_reason = g_steal_pointer(&reader.problem);
                return -EINVAL;
        }
        *ret = reader.conf;
        reader.conf = (AldMosquittoConf){};
        return 0;
}

int ald_mosquitto_conf_check(const char *folder, bool *ret_shared, char **ret_reason)
{
        g_auto(AldMosquittoConf) conf = {};
        int r = ald_mosquitto_conf_read(folder, &conf, ret_reason);

        if (r >= 0)
                *ret_shared = conf.shared;
        return r;
}
