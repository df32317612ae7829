/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>

#include "clients/cluster/broker/mosquitto-conf.h"
#include "pki/file.h"

#define FILE_MAX (1024u * 1024)
#define OWN_FILE "alidade.conf"

/* Options that belong to the last listener named before them, or to all if none was. */
static const char *const of_listeners[] = { "acl_file", "allow_anonymous", "allow_zero_length_clientid",
        "auth_plugin", "auto_id_prefix", "bind_interface", "cafile", "capath", "certfile", "ciphers",
        "ciphers_tls1.3", "crlfile", "dhparamfile", "http_dir", "keyfile", "max_connections", "max_qos",
        "max_topic_alias", "mount_point", "password_file", "plugin", "protocol", "psk_file", "psk_hint",
        "require_certificate", "socket_domain", "tls_engine", "tls_keyform", "tls_version",
        "use_identity_as_username", "use_subject_as_username", "use_username_as_clientid", NULL };

/* What was read so far. */
typedef struct Walk {
        const char *folder;
        bool included;     /* this is a file of a folder, where mosquitto includes nothing more */
        bool includes;     /* the folder with our drop-in is read */
        bool per_listener; /* listeners do not share users and rights */
        bool in_listener;  /* inside a listener that is not ours */
        bool has_acl;      /* that listener has an ACL */
        bool shared;       /* there is another listener */
        char *listener;    /* where it begins */
        char *problem;     /* the first one found */
} Walk;

static void warn_once(Walk *walk, char *problem)
{
        if (walk->problem)
                g_free(problem);
        else
                walk->problem = problem;
}

/* What is known of the last listener when another one begins, or all is read. */
static void end_listener(Walk *walk)
{
        if (walk->in_listener && !(walk->per_listener && walk->has_acl))
                warn_once(walk,
                        g_strdup_printf("%s: another listener of this mosquitto has no access rules of its "
                                        "own, so that anyone could publish for any node through it. Remove "
                                        "it, give it an acl_file after \"per_listener_settings true\", or "
                                        "run the broker of the cluster on another machine",
                                walk->listener));
        walk->in_listener = walk->has_acl = false;
        g_clear_pointer(&walk->listener, g_free);
}

static void take_of_listener(Walk *walk, const char *where, const char *key, const char *value)
{
        if (!walk->in_listener)
                warn_once(walk,
                        g_strdup_printf(
                                "%s: %s would change the listener of the cluster, or prevent mosquitto from "
                                "starting with it. Remove it, or put it after a listener of its own",
                                where, key));
        if (strcmp(key, "acl_file") == 0)
                walk->has_acl = true;
        if (strcmp(key, "allow_anonymous") == 0 && strcmp(value, "true") == 0)
                warn_once(
                        walk, g_strdup_printf("%s: a listener of this mosquitto is open to everyone. Remove "
                                              "it, or run the broker of the cluster on another machine",
                                      where));
}

static void read_folder(Walk *walk, const char *path);

static void take_option(Walk *walk, const char *where, const char *key, const char *value)
{
        if (strcmp(key, "include_dir") == 0) {
                if (!walk->included)
                        read_folder(walk, value);
        } else if (strcmp(key, "per_listener_settings") == 0 && strcmp(value, "true") == 0)
                walk->per_listener = true;
        else if (strcmp(key, "per_listener_settings") == 0)
                warn_once(walk,
                        g_strdup_printf("%s: per_listener_settings must be true. Remove the line", where));
        else if (strcmp(key, "listener") == 0 || strcmp(key, "port") == 0 ||
                 strcmp(key, "bind_address") == 0) {
                end_listener(walk);
                walk->in_listener = walk->shared = true;
                walk->listener = g_strdup(where);
        } else if (g_strv_contains(of_listeners, key))
                take_of_listener(walk, where, key, value);
}

static void read_file(Walk *walk, const char *path)
{
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        size_t n;
        int r;

        r = ald_pki_file_read(path, FILE_MAX, &text, &n);
        if (r < 0) {
                warn_once(walk, g_strdup_printf("%s: %s", path, g_strerror(-r)));
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
                take_option(walk, where, key, g_strstrip(value));
        }
}

static bool is_own_folder(const Walk *walk, const char *path)
{
        g_autofree char *own = g_build_filename(walk->folder, "conf.d", NULL);
        struct stat a, b;

        return stat(path, &a) == 0 && stat(own, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int by_name(gconstpointer a, gconstpointer b)
{
        return strcasecmp(*(const char *const *) a, *(const char *const *) b);
}

/* In mosquitto's own order. */
static void read_folder(Walk *walk, const char *path)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        bool own = is_own_folder(walk, path);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_str_has_suffix(name, ".conf") && !(own && strcmp(name, OWN_FILE) == 0))
                        g_ptr_array_add(names, g_strdup(name));
        if (own) {
                g_ptr_array_add(names, g_strdup(OWN_FILE));
                walk->includes = true;
        }
        g_ptr_array_sort(names, by_name);
        walk->included = true;
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);

                if (own && strcmp(names->pdata[i], OWN_FILE) == 0) {
                        end_listener(walk);
                        walk->per_listener = true;
                } else
                        read_file(walk, file);
        }
        walk->included = false;
}

int ald_mosquitto_conf_check(const char *folder, bool *ret_shared, char **ret_reason)
{
        g_autofree char *path = g_build_filename(folder, "mosquitto.conf", NULL);
        Walk walk = { .folder = folder };
        struct stat st;

        if (stat(path, &st) < 0) {
                *ret_reason = g_strdup_printf("mosquitto, the broker, is not installed: %s does not exist. "
                                              "Install the package mosquitto",
                        path);
                return -ENOENT;
        }
        read_file(&walk, path);
        end_listener(&walk);
        if (!walk.includes)
                warn_once(&walk, g_strdup_printf("%s does not read %s/conf.d. Add the line \"include_dir "
                                                 "%s/conf.d\" at its end, and create that folder",
                                         path, folder, folder));
        if (!walk.problem) {
                *ret_shared = walk.shared;
                return 0;
        }
        *ret_reason = walk.problem;
        return -EINVAL;
}
