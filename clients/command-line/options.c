/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/quantity.h"
#include "clients/common/time-words.h"

#define USAGE_COLUMNS 21 /* of "-H --host=USER@HOST" with a space behind it */
#define FIRST_NUMBER 0x100

const char *const ald_json_modes[] = { "short", "pretty", "off", NULL };

static const AldOption common_options[] = { ALD_OPTION_HELP, ALD_OPTION_HOST(NULL), ALD_OPTION_JSON(NULL),
        ALD_OPTION_NO_PAGER, ALD_OPTION_NO_ASK_PASSWORD, {} };

const char *const *ald_option_words(const AldOption *option)
{
        return option->type ? ald_struct_find(option->type, option->field)->words : option->words;
}

static const AldOption *find_option(const AldOption *options, const char *name)
{
        for (; options->name; options++)
                if (strcmp(options->name, name) == 0)
                        return options;
        return NULL;
}

/* For getopt_long(): the common options, then those of the verb. */
typedef struct OptionList {
        const AldOption *options[64]; /* by the number of each, less FIRST_NUMBER */
        struct option table[64 + 1];
        GString *letters;
        int n;
} OptionList;

static void add_option(OptionList *list, const AldOption *option)
{
        bool is_optional = option->argument && option->argument[0] == '[';

        g_assert(list->n < (int) G_N_ELEMENTS(list->options));
        list->options[list->n] = option;
        list->table[list->n] = (struct option){ .name = option->name,
                .has_arg = is_optional        ? optional_argument
                           : option->argument ? required_argument
                                              : no_argument,
                .val = option->letter ?: FIRST_NUMBER + list->n };
        if (option->letter)
                g_string_append_printf(list->letters, "%c%s", option->letter, option->argument ? ":" : "");
        list->n++;
}

static void option_list_init(OptionList *list, const AldSynopsis *synopsis)
{
        *list = (OptionList){ .letters = g_string_new(synopsis->own_words ? "+:" : ":") };
        for (const AldOption *option = common_options; option->name; option++)
                add_option(list, option);
        for (const AldOption *option = synopsis->options; option->name; option++)
                if (!find_option(common_options, option->name))
                        add_option(list, option);
}

static void option_list_clear(OptionList *list)
{
        g_string_free(list->letters, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OptionList, option_list_clear)

/* Returns the words after the verb, behind a name of a program for getopt_long(), which begins anew. */
static char **begin(const AldCtl *ctl, int *ret_argc)
{
        guint n = g_strv_length(ctl->args);
        char **argv = g_new0(char *, n + 2);

        argv[0] = (char *) "alidadectl";
        for (guint i = 0; i < n; i++)
                argv[i + 1] = ctl->args[i];
        optind = 0;
        *ret_argc = (int) n + 1;
        return argv;
}

static const AldOption *option_of(const OptionList *list, int c)
{
        for (int i = 0; i < list->n; i++)
                if (list->table[i].val == c)
                        return list->options[i];
        return NULL;
}

/* The text begins at the same column in the help of each verb. */
static void print_option_help(const AldOption *option)
{
        g_auto(GStrv) lines = g_strsplit(option->help, "\n", -1);
        const char *argument = option->argument ?: "";
        g_autofree char *letter = option->letter ? g_strdup_printf("-%c", option->letter) : g_strdup("  ");
        g_autofree char *usage = *argument == '['
                                         ? g_strdup_printf("%s --%s[=%s", letter, option->name, argument + 1)
                                         : g_strdup_printf("%s --%s%s%s", letter, option->name,
                                                   *argument ? "=" : "", argument);
        int columns = (int) g_utf8_strlen(usage, -1);

        if (columns > USAGE_COLUMNS)
                printf("  %s\n%*s%s\n", usage, USAGE_COLUMNS + 3, "", lines[0]);
        else
                printf("  %s%*s %s\n", usage, USAGE_COLUMNS - columns, "", lines[0]);
        for (char **line = lines + 1; *line; line++)
                printf("%*s%s\n", USAGE_COLUMNS + 3, "", *line);
}

static int print_help(const AldSynopsis *synopsis)
{
        g_auto(GStrv) usage = g_strsplit(synopsis->usage, "\n", -1);

        for (char **line = usage; *line; line++)
                printf("%s %s\n", line == usage ? "Usage:" : "      ", *line);
        printf("\n%s\n\nOptions:\n", synopsis->intro);
        for (const AldOption *option = synopsis->options; option->name; option++)
                print_option_help(option);
        if (synopsis->outro)
                printf("\n%s\n", synopsis->outro);
        puts("\nSee alidadectl(1).");
        return ald_print_finish();
}

int ald_options_print_usage(const AldSynopsis *synopsis)
{
        g_auto(GStrv) usage = g_strsplit(synopsis->usage, "\n", -1);

        for (char **line = usage; *line; line++)
                ald_print_error("%s %s", line == usage ? "Usage:" : "      ", *line);
        return ALD_EXIT_USAGE;
}

static bool read_word(const AldOption *option, const char *value)
{
        const char *const *words = ald_option_words(option);
        g_autofree char *list = NULL;

        if (g_strv_contains(words, value))
                return true;
        list = g_strjoinv(", ", (char **) words);
        ald_print_error("--%s is one of %s, not \"%s\"", option->name, list, value);
        return false;
}

static bool read_number(const AldOption *option, const char *value, uint64_t *ret)
{
        guint64 number;

        if (g_ascii_string_to_unsigned(value, 10, 1, option->max, &number, NULL)) {
                *ret = number;
                return true;
        }
        ald_print_error(
                "--%s: \"%s\" is not a whole number from 1 to %" PRIu64, option->name, value, option->max);
        return false;
}

static bool read_size(const AldOption *option, const char *value, uint64_t *ret)
{
        g_autofree char *problem = NULL;
        int r = ald_size_parse(value, ret);

        if (r >= 0)
                return true;
        problem = ald_size_problem(value, r);
        ald_print_error("--%s: \"%s\" is %s", option->name, value, problem);
        return false;
}

static bool is_text(const AldOption *option, const char *value)
{
        if (g_utf8_validate(value, -1, NULL))
                return true;
        ald_print_error("--%s is not UTF-8", option->name);
        return false;
}

static bool read_common(AldCtl *ctl, const char *name, const char *value)
{
        if (strcmp(name, "json") == 0)
                return ald_json_parse_mode(value, &ctl->json) >= 0;
        if (strcmp(name, "host") == 0)
                ctl->host = value;
        else if (strcmp(name, "no-pager") == 0)
                ctl->pager = false;
        else
                ctl->ask_password = false;
        return true;
}

/* Sets what the option sets; false if it reported an error. */
static bool read_option(const AldOption *option, void *order, const char *value)
{
        void *member = (char *) order + option->offset;

        switch (option->kind) {
        case ALD_OPTION_FLAG:
                *(bool *) member = true;
                return true;
        case ALD_OPTION_TEXT:
        case ALD_OPTION_RAW:
        case ALD_OPTION_WORD:
                if ((option->kind == ALD_OPTION_TEXT && !is_text(option, value)) ||
                        (option->kind == ALD_OPTION_WORD && !read_word(option, value)))
                        return false;
                *(const char **) member = value;
                return true;
        case ALD_OPTION_TEXTS:
                if (!is_text(option, value))
                        return false;
                g_ptr_array_add(*(GPtrArray **) member, g_strdup(value));
                return true;
        case ALD_OPTION_NUMBER:
                return read_number(option, value, member);
        case ALD_OPTION_BYTES:
                return read_size(option, value, member);
        case ALD_OPTION_READ:
                return option->read(order, value);
        case ALD_OPTION_COMMON:
                return read_common(order, option->name, value);
        }
        g_assert_not_reached();
}

int ald_options_read(const AldSynopsis *synopsis, void *order, char ***ret_words)
{
        g_autofree char **argv = NULL;
        g_auto(OptionList) list = {};
        int argc, c;

        option_list_init(&list, synopsis);
        argv = begin(order, &argc);
        while ((c = getopt_long(argc, argv, list.letters->str, list.table, NULL)) >= 0) {
                const AldOption *option = option_of(&list, c);

                if (c == 'h')
                        return print_help(synopsis);
                if (!option)
                        return ald_print_option_error(argv, c, list.table);
                if (!read_option(option, order, optarg))
                        return ALD_EXIT_USAGE;
        }
        *ret_words = g_memdup2(argv + optind, sizeof(char *) * (size_t) (argc - optind + 1));
        return -1;
}

bool ald_options_have(const AldSynopsis *synopsis, const AldCtl *ctl, const char *name)
{
        g_autofree char **argv = NULL;
        g_auto(OptionList) list = {};
        bool found = false;
        int argc, c;

        option_list_init(&list, synopsis);
        argv = begin(ctl, &argc);
        while ((c = getopt_long(argc, argv, list.letters->str, list.table, NULL)) >= 0) {
                const AldOption *option = option_of(&list, c);

                found |= option && strcmp(option->name, name) == 0;
        }
        return found;
}

bool ald_options_time(
        const char *option, const char *text, uint64_t now_usec, AldRepeatedTime which, uint64_t *ret_usec)
{
        g_autofree char *problem = NULL;
        int r = ald_time_parse(text, now_usec, which, ret_usec);

        if (r >= 0)
                return true;
        problem = ald_time_problem(r);
        ald_print_error("--%s=%s %s", option, text, problem);
        return false;
}
