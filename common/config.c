/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include <glib.h>

#include "common/config.h"
#include "common/excerpt.h"

#define FILE_MAX (1024 * 1024)

/* Every group of any daemon, so that each can tell a misspelt group from another's. */
static const char *const known_groups[] = { "identity", "telemetry", "state", "link-probe", "cluster",
        "exporter", "history", NULL };

struct AldConfig {
        const AldConfigKey *keys;
        GHashTable *values; /* key → text that was checked */
        GHashTable *lists;  /* key → strv */
        bool is_complete;
};

static const AldConfigKey *find_key(const AldConfigKey *keys, const char *key)
{
        for (; keys->group; keys++)
                if (g_str_equal(keys->key, key))
                        return keys;
        return NULL;
}

static const char *refuse_uint(const AldConfigKey *key, const char *value)
{
        guint64 number;

        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT64, &number, NULL))
                return "not a whole number";
        if (number < key->min)
                return "too small";
        if (number > key->max)
                return "too large";
        return NULL;
}

/* Why the value is refused, or NULL. */
static const char *refuse_value(const AldConfigKey *key, const char *value)
{
        switch (key->type) {
        case ALD_CONFIG_BOOLEAN:
                if (!g_str_equal(value, "true") && !g_str_equal(value, "false"))
                        return "neither true nor false";
                break;
        case ALD_CONFIG_UINT:
                return refuse_uint(key, value);
        case ALD_CONFIG_STRING:
        case ALD_CONFIG_STRV:
                break;
        }
        return key->refuse ? key->refuse(value) : NULL;
}

static void explain_refusal(const AldConfigKey *key, const char *path, const char *value, const char *reason)
{
        g_autofree char *range = key->type == ALD_CONFIG_UINT ? g_strdup_printf(" (%" G_GUINT64_FORMAT
                                                                                " to %" G_GUINT64_FORMAT ")",
                                                                        key->min, key->max)
                                                              : g_strdup("");

        g_autofree char *excerpt = ald_excerpt(value), *why = ald_excerpt_ends(reason);

        g_warning("%s: [%s] %s=%s refused: %s%s", path, key->group, key->key, excerpt, why, range);
}

static void load_key(AldConfig *config, GKeyFile *file, const char *path, const char *group, const char *name)
{
        const AldConfigKey *key = find_key(config->keys, name);
        g_autoptr(GError) error = NULL;
        g_autofree char *value = NULL;
        const char *reason;

        if (!key || !g_str_equal(key->group, group)) {
                g_autofree char *excerpt = ald_excerpt(name);

                g_warning("%s: [%s] %s: unknown key", path, group, excerpt);
                return;
        }
        value = g_key_file_get_string(file, group, name, &error);
        /* Of a bad escape sequence GLib makes both an error and a value. */
        reason = error ? error->message : refuse_value(key, g_strstrip(value));
        if (reason) {
                g_autofree char *raw = g_key_file_get_value(file, group, name, NULL);
                explain_refusal(key, path, raw, reason);
                return;
        }
        g_hash_table_replace(config->values, (gpointer) key->key, g_steal_pointer(&value));
}

static bool has_group(const AldConfigKey *keys, const char *group)
{
        for (; keys->group; keys++)
                if (g_str_equal(keys->group, group))
                        return true;
        return false;
}

/* Why the file is not even opened, or NULL: a FIFO would keep the service waiting. */
static const char *refuse_file(const char *path)
{
        struct stat st;

        if (stat(path, &st) < 0)
                return NULL;
        if (!S_ISREG(st.st_mode))
                return "not a regular file";
        return st.st_size > FILE_MAX ? "too large" : NULL;
}

static void leave_out(AldConfig *config, const char *path, const char *reason)
{
        /* It may show a whole line of the file. */
        g_autofree char *why = ald_excerpt_ends(reason);

        g_warning("%s: left out: %s", path, why);
        config->is_complete = false;
}

static void load_file(AldConfig *config, const char *path)
{
        const char *reason = refuse_file(path);
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_autoptr(GError) error = NULL;
        g_auto(GStrv) groups = NULL;

        if (reason) {
                leave_out(config, path, reason);
                return;
        }
        if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error)) {
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        leave_out(config, path, error->message);
                return;
        }
        groups = g_key_file_get_groups(file, NULL);
        for (char **group = groups; *group; group++) {
                g_auto(GStrv) keys = NULL;

                if (!g_strv_contains(known_groups, *group)) {
                        g_autofree char *excerpt = ald_excerpt(*group);

                        g_warning("%s: [%s]: unknown group", path, excerpt);
                }
                if (!has_group(config->keys, *group))
                        continue;
                keys = g_key_file_get_keys(file, *group, NULL, NULL);
                for (char **key = keys; key && *key; key++)
                        load_key(config, file, path, *group, *key);
        }
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void load_drop_ins(AldConfig *config, const char *directory)
{
        g_autofree char *path = g_build_filename(directory, "alidade.conf.d", NULL);
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) error = NULL;
        g_autoptr(GDir) dir = g_dir_open(path, 0, &error);
        const char *name;

        if (!dir) {
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        leave_out(config, path, error->message);
                return;
        }
        while ((name = g_dir_read_name(dir)))
                if (g_str_has_suffix(name, ".conf"))
                        g_ptr_array_add(names, g_build_filename(path, name, NULL));
        g_ptr_array_sort(names, compare_names);
        for (guint i = 0; i < names->len; i++)
                load_file(config, names->pdata[i]);
}

AldConfig *ald_config_load(const AldConfigKey *keys, const char *directory)
{
        AldConfig *config = g_new0(AldConfig, 1);
        g_autofree char *path = NULL;

        if (!directory)
                directory = g_getenv("ALIDADE_CONFIG_DIR");
        if (!directory || !*directory)
                directory = ALD_CONFIG_DIR;

        config->keys = keys;
        config->is_complete = true;
        config->values = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        config->lists = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_strfreev);
        path = g_build_filename(directory, "alidade.conf", NULL);
        load_file(config, path);
        load_drop_ins(config, directory);
        return config;
}

void ald_config_free(AldConfig *config)
{
        if (!config)
                return;
        g_hash_table_unref(config->values);
        g_hash_table_unref(config->lists);
        g_free(config);
}

bool ald_config_is_complete(const AldConfig *config)
{
        return config->is_complete;
}

static const char *value_of(const AldConfig *config, const char *name, AldConfigType type)
{
        const AldConfigKey *key = find_key(config->keys, name);
        const char *value;

        g_assert(key && key->type == type);
        value = g_hash_table_lookup(config->values, name);
        return value ? value : key->fallback;
}

bool ald_config_boolean(const AldConfig *config, const char *key)
{
        return g_str_equal(value_of(config, key, ALD_CONFIG_BOOLEAN), "true");
}

uint64_t ald_config_uint(const AldConfig *config, const char *key)
{
        return g_ascii_strtoull(value_of(config, key, ALD_CONFIG_UINT), NULL, 10);
}

const char *ald_config_string(const AldConfig *config, const char *key)
{
        return value_of(config, key, ALD_CONFIG_STRING);
}

static char **split_list(const char *value)
{
        g_auto(GStrv) parts = g_strsplit(value, ";", -1);
        g_autoptr(GPtrArray) list = g_ptr_array_new();

        for (char **part = parts; *part; part++)
                if (*g_strstrip(*part) != '\0')
                        g_ptr_array_add(list, g_strdup(*part));
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&list), FALSE);
}

const char *const *ald_config_strv(const AldConfig *config, const char *key)
{
        char **list = g_hash_table_lookup(config->lists, key);

        if (!list) {
                list = split_list(value_of(config, key, ALD_CONFIG_STRV));
                g_hash_table_insert(config->lists, (gpointer) find_key(config->keys, key)->key, list);
        }
        return (const char *const *) list;
}
