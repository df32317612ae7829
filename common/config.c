/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>

#include "common/config.h"
#include "common/excerpt.h"
#include "common/text-file.h"

#define FILE_MAX (1024 * 1024)

/* The groups of all daemons, so that each can tell a misspelt group from one of another daemon. */
static const char *const known_groups[] = { "identity", "telemetry", "state", "link-probe", "cluster",
        "exporter", "history", NULL };

struct AldConfig {
        const AldConfigKey *keys;
        GHashTable *values;  /* key → checked text */
        GHashTable *places;  /* key → "file:line" of its value */
        GHashTable *refused; /* keys whose last value was refused */
        GHashTable *lists;   /* key → strv */
        bool is_complete;
        GPtrArray *problems; /* AldConfigProblem */
        unsigned n_unlisted; /* problems beyond the limit */
};

/* A parsed file, with the line numbers that GKeyFile does not report. */
typedef struct ConfigFile {
        const char *path;
        GKeyFile *parsed;
        GHashTable *lines; /* "group" or "group\nkey" → number of its line, from 1 */
} ConfigFile;

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

/* Returns why the value is refused, or NULL. */
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

static void problem_free(AldConfigProblem *problem)
{
        g_free(problem->file);
        g_free(problem->group);
        g_free(problem->key);
        g_free(problem->reason);
        g_free(problem);
}

/* Writes the known part of "/etc/alidade/alidade.conf:3: [exporter] listen". */
static char *format_place(const AldConfigProblem *problem)
{
        GString *place = g_string_new(problem->file);

        if (problem->line > 0)
                g_string_append_printf(place, ":%u", problem->line);
        if (problem->group)
                g_string_append_printf(place, ": [%s]", problem->group);
        if (problem->key)
                g_string_append_printf(place, " %s", problem->key);
        return g_string_free(place, FALSE);
}

char *ald_config_problem_format(const AldConfigProblem *problem)
{
        g_autofree char *place = format_place(problem);

        return g_strdup_printf("%s: %s", place, problem->reason);
}

/* Keeps the problem and logs it. `value` is the value of the key as written, or NULL. */
static void add_problem(AldConfig *config, const char *path, unsigned line, const char *group,
        const char *key, const char *value, const char *reason)
{
        AldConfigProblem *problem;
        g_autofree char *place = NULL, *excerpt = NULL;

        if (config->problems->len == ALD_CONFIG_PROBLEMS_MAX) {
                config->n_unlisted++;
                return;
        }
        problem = g_new0(AldConfigProblem, 1);
        problem->file = g_strdup(path);
        problem->line = line;
        problem->group = group ? ald_excerpt(group) : NULL;
        problem->key = key ? ald_excerpt(key) : NULL;
        problem->reason = ald_excerpt_ends(reason);
        g_ptr_array_add(config->problems, problem);

        place = format_place(problem);
        excerpt = value ? ald_excerpt(value) : NULL;
        if (excerpt)
                g_warning("%s=%s refused: %s", place, excerpt, problem->reason);
        else
                g_warning("%s: %s", place, problem->reason);
}

static unsigned find_line(const ConfigFile *file, const char *group, const char *key)
{
        g_autofree char *name = key ? g_strconcat(group, "\n", key, NULL) : NULL;

        return GPOINTER_TO_UINT(g_hash_table_lookup(file->lines, name ? name : group));
}

static void refuse_key(AldConfig *config, const ConfigFile *file, const AldConfigKey *key, const char *reason)
{
        g_autofree char *raw = g_key_file_get_value(file->parsed, key->group, key->key, NULL), *why = NULL;
        unsigned line = find_line(file, key->group, key->key);

        why = key->type != ALD_CONFIG_UINT
                      ? g_strdup(reason)
                      : g_strdup_printf("%s (%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ")", reason,
                                key->min, key->max);
        add_problem(config, file->path, line, key->group, key->key, raw, why);
}

static bool has_group(const AldConfigKey *keys, const char *group)
{
        for (; keys->group; keys++)
                if (g_str_equal(keys->group, group))
                        return true;
        return false;
}

static void load_key(AldConfig *config, const ConfigFile *file, const char *group, const char *name)
{
        const AldConfigKey *key = find_key(config->keys, name);
        g_autoptr(GError) error = NULL;
        g_autofree char *value = NULL;
        const char *reason;

        if (!key || !g_str_equal(key->group, group)) {
                g_autofree char *why = key ? g_strdup_printf("belongs in [%s]", key->group)
                                           : g_strdup("unknown key");

                /* Other services report the keys of their own groups, and an unknown group is reported as a
                 * whole. */
                if (has_group(config->keys, group) || (key && g_strv_contains(known_groups, group)))
                        add_problem(config, file->path, find_line(file, group, name), group, name, NULL, why);
                return;
        }
        value = g_key_file_get_string(file->parsed, group, name, &error);
        /* For a bad escape sequence GLib returns both an error and a value. */
        reason = error ? error->message : refuse_value(key, g_strstrip(value));
        if (reason) {
                refuse_key(config, file, key, reason);
                g_hash_table_add(config->refused, (gpointer) key->key);
                if (key->shut)
                        g_hash_table_replace(config->values, (gpointer) key->key, g_strdup(key->shut));
                return;
        }
        g_hash_table_remove(config->refused, key->key);
        g_hash_table_replace(config->values, (gpointer) key->key, g_steal_pointer(&value));
        g_hash_table_replace(config->places, (gpointer) key->key,
                g_strdup_printf("%s:%u", file->path, find_line(file, group, name)));
}

static void leave_file_out(AldConfig *config, const char *path, unsigned line, const char *reason)
{
        /* The reason may quote a whole line of the file. */
        g_autofree char *excerpt = ald_excerpt_ends(reason), *why = g_strconcat("left out: ", excerpt, NULL);

        add_problem(config, path, line, NULL, NULL, NULL, why);
        config->is_complete = false;
}

/* Maps each key to its last line, which is the one that counts, and each group to its first. The text has
 * been parsed before: any line that starts with '[' is a group, and any other has a '='. */
static GHashTable *find_lines(const char *text)
{
        GHashTable *lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autofree char *group = NULL;

        for (unsigned number = 1; *text; number++) {
                const char *end = strchrnul(text, '\n'), *stop;

                while (text < end && g_ascii_isspace(*text))
                        text++;
                stop = memchr(text, *text == '[' ? ']' : '=', (size_t) (end - text));
                if (*text == '[' && stop) {
                        g_free(group);
                        group = g_strndup(text + 1, (gsize) (stop - text - 1));
                        if (!g_hash_table_contains(lines, group))
                                g_hash_table_insert(lines, g_strdup(group), GUINT_TO_POINTER(number));
                } else if (*text != '#' && stop && group) {
                        g_autofree char *key = g_strchomp(g_strndup(text, (gsize) (stop - text)));

                        g_hash_table_replace(
                                lines, g_strconcat(group, "\n", key, NULL), GUINT_TO_POINTER(number));
                }
                text = *end ? end + 1 : end;
        }
        return lines;
}

static bool parse_text(GKeyFile *file, const char *text, size_t size, GError **error)
{
        /* Without this flag, GLib drops keys such as "listen[de]" silently. */
        return g_key_file_load_from_data(file, text, size, G_KEY_FILE_KEEP_TRANSLATIONS, error);
}

/* Returns where a line other than the first begins, near the middle of the text; 0 if it is one line. */
static size_t find_middle(const char *text, size_t size)
{
        const char *newline = memrchr(text, '\n', size / 2);

        if (!newline)
                newline = memchr(text + size / 2, '\n', size - size / 2);
        return newline && newline + 1 < text + size ? (size_t) (newline + 1 - text) : 0;
}

/* Counts the groups that begin in a part of a file. */
static unsigned count_groups(const char *text, size_t size)
{
        unsigned n = 0;

        for (const char *end = text + size; text < end;
                text = memchr(text, '\n', (size_t) (end - text)) ?: end) {
                while (text < end && g_ascii_isspace(*text))
                        text++;
                n += text < end && *text == '[';
        }
        return n;
}

/* Parses a part of a file that follows this many groups. Keys need a group before them, and in the first
 * group of a file GLib interprets some keys itself, so up to two groups are put in front. */
static bool parse_part(const char *text, size_t size, unsigned groups_before)
{
        g_autoptr(GString) part = g_string_new(groups_before > 0 ? "[a]\n" : NULL);
        g_autoptr(GKeyFile) file = g_key_file_new();

        if (groups_before > 1)
                g_string_append(part, "[b]\n");
        g_string_append_len(part, text, (gssize) size);
        return parse_text(file, part->str, part->len, NULL);
}

/* Finds the first line that GLib cannot parse, in a file that it cannot parse as a whole. Each half is parsed
 * alone, so that the time grows only linearly with the size of the file. */
static unsigned find_parse_error(const char *text, size_t size)
{
        size_t good = 0, bad = size, middle;
        unsigned number = 1, groups = 0;

        while ((middle = find_middle(text + good, bad - good)) > 0) {
                if (!parse_part(text + good, middle, groups)) {
                        bad = good + middle;
                        continue;
                }
                groups += count_groups(text + good, middle);
                good += middle;
        }
        for (size_t i = 0; i < good; i++)
                number += text[i] == '\n';
        return number;
}

static void load_groups(AldConfig *config, const ConfigFile *file)
{
        g_auto(GStrv) groups = g_key_file_get_groups(file->parsed, NULL);

        for (char **group = groups; *group; group++) {
                /* GLib lists a key twice if it occurs twice. */
                g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
                g_auto(GStrv) keys = NULL;

                if (!g_strv_contains(known_groups, *group))
                        add_problem(config, file->path, find_line(file, *group, NULL), *group, NULL, NULL,
                                "unknown group");
                keys = g_key_file_get_keys(file->parsed, *group, NULL, NULL);
                for (char **key = keys; key && *key; key++)
                        if (g_hash_table_add(seen, *key))
                                load_key(config, file, *group, *key);
        }
}

/* Returns whether there is nothing at this path. A file may be missing, but a dangling link is a problem. */
static bool is_missing(const char *path)
{
        struct stat st;

        return lstat(path, &st) < 0 && errno == ENOENT;
}

static void load_file(AldConfig *config, const char *path)
{
        g_autoptr(GKeyFile) parsed = g_key_file_new();
        g_autoptr(GHashTable) lines = NULL;
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        size_t size = 0;
        int r = ald_text_file_read(path, FILE_MAX, &text, &size);

        if (r < 0) {
                if (r != -ENOENT || !is_missing(path))
                        leave_file_out(config, path, 0, ald_text_file_reason(r));
        } else if (memchr(text, '\0', size)) {
                /* GLib would ignore the rest of the line. */
                leave_file_out(config, path, 0, "not a text file");
        } else if (!parse_text(parsed, text, size, &error)) {
                leave_file_out(config, path, find_parse_error(text, size), error->message);
        } else {
                lines = find_lines(text);
                load_groups(config, &(ConfigFile){ path, parsed, lines });
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
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) || !is_missing(path))
                        leave_file_out(config, path, 0, error->message);
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
        config->places = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        config->refused = g_hash_table_new(g_str_hash, g_str_equal);
        config->problems = g_ptr_array_new_with_free_func((GDestroyNotify) problem_free);
        path = g_build_filename(directory, "alidade.conf", NULL);
        load_file(config, path);
        load_drop_ins(config, directory);
        if (config->n_unlisted > 0)
                g_warning("%s: %u more problems are not shown", directory, config->n_unlisted);
        return config;
}

static void copy_entry(GHashTable *to, GHashTable *from, const char *key)
{
        const char *value = g_hash_table_lookup(from, key);

        if (value)
                g_hash_table_replace(to, (gpointer) key, g_strdup(value));
        else
                g_hash_table_remove(to, key);
}

AldConfig *ald_config_load_again(const AldConfig *previous, const char *directory)
{
        AldConfig *config = ald_config_load(previous->keys, directory);

        for (const AldConfigKey *key = config->keys; key->group && config->problems->len > 0; key++) {
                if (g_hash_table_contains(config->values, key->key) &&
                        !ald_config_is_refused(config, key->key))
                        continue;
                copy_entry(config->values, previous->values, key->key);
                copy_entry(config->places, previous->places, key->key);
                if (!ald_config_is_refused(previous, key->key))
                        g_hash_table_remove(config->refused, key->key);
                else
                        g_hash_table_add(config->refused, (gpointer) key->key);
        }
        return config;
}

void ald_config_free(AldConfig *config)
{
        if (!config)
                return;
        g_hash_table_unref(config->values);
        g_hash_table_unref(config->lists);
        g_hash_table_unref(config->places);
        g_hash_table_unref(config->refused);
        g_ptr_array_unref(config->problems);
        g_free(config);
}

bool ald_config_is_complete(const AldConfig *config)
{
        return config->is_complete;
}

const GPtrArray *ald_config_problems(const AldConfig *config)
{
        return config->problems;
}

bool ald_config_is_refused(const AldConfig *config, const char *key)
{
        return g_hash_table_contains(config->refused, key);
}

const char *ald_config_place(const AldConfig *config, const char *key)
{
        return g_hash_table_lookup(config->places, key);
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
