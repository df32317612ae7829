/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/program-options.h"
#include "record/closest-name.h"

enum { EXIT_USAGE = 2 };

/* Prints the help. GLib's own --help shows "[OPTION?]" unless the program has set a locale with UTF-8. */
static void print_help(GOptionContext *context)
{
        g_autofree char *help = g_option_context_get_help(context, TRUE, NULL);
        g_autoptr(GString) text = g_string_new(help);

        if (!g_get_charset(NULL))
                (void) g_string_replace(text, "…", "...", 0);
        fputs(text->str, stdout);
}

bool ald_program_options(const char *name, const char *summary, int argc, char **argv, int *ret_status)
{
        gboolean help = FALSE, version = FALSE;
        const GOptionEntry entries[] = {
                { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL },
                { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Show the version", NULL },
                { NULL },
        };
        const GOptionEntry *const tables[] = { entries, NULL };
        g_autoptr(GOptionContext) context = g_option_context_new(NULL);
        g_autofree char *suggestion = NULL;
        g_autoptr(GError) error = NULL;

        (void) setlocale(LC_CTYPE, "");
        g_option_context_set_help_enabled(context, FALSE);
        g_option_context_set_summary(context, summary);
        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
                suggestion = error ? ald_option_suggestion(tables, argv + 1)
                                   : g_strdup("this program takes no arguments");
                fprintf(stderr, "%s: %s\n", name, suggestion ?: error->message);
                *ret_status = EXIT_USAGE;
                return false;
        }
        if (help)
                print_help(context);
        else if (version)
                printf("%s " ALD_VERSION "\n", name);
        *ret_status = fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        return !help && !version;
}
