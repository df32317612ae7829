/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/common/command-line.h"
#include "record/closest-name.h"

#define FD_MAX 65535u

enum { EXIT_USAGE = 2 };

/* The callbacks of --help and --version return these as errors, at which GOption stops, since they make the
 * rest of the command line irrelevant. */
enum { HELP_WANTED, VERSION_WANTED };

static GQuark request_quark(void)
{
        return g_quark_from_static_string("alidade-command-line-request");
}

static gboolean on_help(const char *name, const char *value, void *userdata, GError **error)
{
        g_set_error_literal(error, request_quark(), HELP_WANTED, "help");
        return FALSE;
}

static gboolean on_version(const char *name, const char *value, void *userdata, GError **error)
{
        g_set_error_literal(error, request_quark(), VERSION_WANTED, "version");
        return FALSE;
}

static const GOptionEntry requests[] = {
        { "help", 'h', G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (void *) on_help, "Show this help",
                NULL },
        { "version", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (void *) on_version, "Show the version",
                NULL },
        {},
};

int ald_command_line_refuse(char **ret_error, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        *ret_error = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        return -EINVAL;
}

static const GOptionEntry *find_entry(const GOptionEntry *const *tables, const char *name, size_t length)
{
        for (; *tables; tables++)
                for (const GOptionEntry *entry = *tables; entry->long_name; entry++)
                        if (strlen(entry->long_name) == length &&
                                strncmp(entry->long_name, name, length) == 0)
                                return entry;
        return NULL;
}

/* GOption reads --json=no as --json. */
static int check_switches(const GOptionEntry *const *tables, char *const *words, char **ret_error)
{
        for (; *words && !g_str_equal(*words, "--"); words++) {
                const char *name = g_str_has_prefix(*words, "--") ? *words + 2 : "";
                const GOptionEntry *entry = find_entry(tables, name, strcspn(name, "="));
                bool has_value = strchr(name, '=') != NULL;

                if (!entry)
                        continue;
                if (entry->arg == G_OPTION_ARG_NONE && has_value)
                        return ald_command_line_refuse(
                                ret_error, "--%s takes no argument: %s", entry->long_name, *words);
                /* The next word is the argument of this option. */
                if (entry->arg == G_OPTION_ARG_FILENAME && !has_value && words[1])
                        words++;
        }
        return 0;
}

static char *suggest_option(const GOptionEntry *const *tables, char *const *words)
{
        g_autoptr(GPtrArray) all = g_ptr_array_new();

        for (; *tables; tables++)
                g_ptr_array_add(all, (gpointer) *tables);
        g_ptr_array_add(all, (gpointer) requests);
        g_ptr_array_add(all, NULL);
        return ald_option_suggestion((const GOptionEntry *const *) all->pdata, words);
}

int ald_command_line_parse(const AldCommandLine *line, const GOptionEntry *const *tables, void *userdata,
        int argc, char **argv, char ***ret_rest, char **ret_output, char **ret_error)
{
        g_autoptr(GOptionContext) context = g_option_context_new(line->parameters);
        g_autofree char *description = g_strdup_printf("See %s(1).", line->program);
        GOptionGroup *group = g_option_group_new("main", "", "", userdata, NULL);
        g_auto(GStrv) words = g_new0(char *, (size_t) MAX(argc, 1) + 1);
        g_autofree char *suggestion = NULL;
        g_autoptr(GError) error = NULL;

        /* The help shows the first word as the name of the program. */
        words[0] = g_strdup(line->program);
        for (int i = 1; i < argc; i++)
                words[i] = g_strdup(argv[i]);
        for (const GOptionEntry *const *table = tables; *table; table++)
                g_option_group_add_entries(group, *table);
        g_option_group_add_entries(group, requests);
        g_option_context_set_main_group(context, group);
        g_option_context_set_help_enabled(context, FALSE);
        g_option_context_set_summary(context, line->summary);
        g_option_context_set_description(context, description);
        if (check_switches(tables, words + 1, ret_error) < 0)
                return -EINVAL;
        if (g_option_context_parse_strv(context, &words, &error)) {
                *ret_rest = g_strdupv(words + 1);
                return 0;
        }
        if (g_error_matches(error, request_quark(), HELP_WANTED)) {
                *ret_output = g_option_context_get_help(context, TRUE, NULL);
                return 1;
        }
        if (g_error_matches(error, request_quark(), VERSION_WANTED)) {
                *ret_output = g_strdup_printf("%s " ALD_VERSION "\n", line->program);
                return 1;
        }
        if (g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
                suggestion = suggest_option(tables, words + 1);
        return ald_command_line_refuse(ret_error, "%s", suggestion ?: error->message);
}

int ald_command_line_uint64(
        const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret, char **ret_error)
{
        guint64 value;

        if (!text)
                return 0;
        if (!g_ascii_string_to_unsigned(text, 10, min, max, &value, NULL))
                return ald_command_line_refuse(ret_error,
                        "--%s: not a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ": %s", name,
                        min, max, text);
        *ret = value;
        return 0;
}

int ald_command_line_unsigned(
        const char *name, const char *text, unsigned min, unsigned max, unsigned *ret, char **ret_error)
{
        uint64_t value = *ret;
        int r = ald_command_line_uint64(name, text, min, max, &value, ret_error);

        if (r >= 0)
                *ret = (unsigned) value;
        return r;
}

int ald_command_line_fd(const char *name, const char *text, int *ret, char **ret_error)
{
        uint64_t value = 0;
        int r = ald_command_line_uint64(name, text, 0, FD_MAX, &value, ret_error);

        if (r >= 0 && text)
                *ret = (int) value;
        return r;
}

int ald_command_line_bytes(const char *name, const char *text, uint64_t *ret, char **ret_error)
{
        static const char units[] = "KMGT";
        size_t length = text ? strlen(text) : 0;
        const char *unit = length > 0 ? strchr(units, g_ascii_toupper(text[length - 1])) : NULL;
        g_autofree char *digits = g_strndup(text ?: "", length - (unit ? 1 : 0));
        uint64_t factor = 1;
        guint64 value;

        if (!text)
                return 0;
        for (const char *u = units; unit && u <= unit; u++)
                factor *= 1000;
        if (!g_ascii_string_to_unsigned(digits, 10, 1, ALD_COMMAND_LINE_BYTES_MAX / factor, &value, NULL))
                return ald_command_line_refuse(ret_error,
                        "--%s: not a number of bytes from 1 to 1125T, with K, M, G or T as suffix: %s", name,
                        text);
        *ret = value * factor;
        return 0;
}

void ald_command_line_set_up(void)
{
        (void) setlocale(LC_CTYPE, "");
        (void) signal(SIGPIPE, SIG_IGN);
}

int ald_command_line_end(const AldCommandLine *line, int result, const char *output, const char *error)
{
        if (result < 0) {
                fprintf(stderr, "%s: %s\n", line->program, error);
                return EXIT_USAGE;
        }
        fputs(output, stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
