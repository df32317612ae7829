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
#include "clients/common/time-parse.h"

#define USAGE_COLUMNS 21 /* "-H --host=USER@HOST" and a space */
#define FIRST_NUMBER 0x100
#define HELP_COLUMNS 80

const char *const ald_json_modes[] = { "short", "pretty", "off", NULL };

static const AldOption common_options[] = { ALD_OPTION_HELP, ALD_OPTION_HOST(NULL), ALD_OPTION_JSON(NULL),
        ALD_OPTION_NO_PAGER, ALD_OPTION_NO_ASK_PASSWORD, {} };

static const char *const *constant_words(const AldOption *option)
{
        static const char *const times[] = { "-1h", "today", "yesterday", NULL };
        static const char *const durations[] = { "1h", "2h", "1d", "1w", NULL };

        if (option->kind == ALD_OPTION_TIME)
                return times;
        if (option->kind == ALD_OPTION_DURATION)
                return durations;
        return option->type ? ald_struct_find(option->type, option->field)->words : option->words;
}

const char *ald_option_word(const AldOption *option, size_t i)
{
        const char *const *words = constant_words(option);

        return option->word_at ? option->word_at(i) : words ? words[i] : NULL;
}

static const AldOption *find_option(const AldOption *options, const char *name)
{
        for (; options->name; options++)
                if (strcmp(options->name, name) == 0)
                        return options;
        return NULL;
}

/* The options for getopt_long(): those of the table, and the common ones that a verb takes without showing
 * them. */
typedef struct OptionList {
        const AldSynopsis *synopsis;
        const AldOption *options[64]; /* by their numbers, less FIRST_NUMBER */
        struct option table[64 + 1];
        GString *letters;
        int n;
        char **argv; /* the words to read, after a program name */
        int argc;
        GPtrArray *words; /* words that are not options */
} OptionList;

static void add_options(OptionList *list, const AldOption *options)
{
        for (const AldOption *option = options; option->name; option++) {
                bool is_optional = option->argument && option->argument[0] == '[';

                if (options == common_options && find_option(list->synopsis->options, option->name))
                        continue;
                g_assert(list->n < (int) G_N_ELEMENTS(list->options));
                list->options[list->n] = option;
                list->table[list->n] = (struct option){ .name = option->name,
                        .has_arg = is_optional        ? optional_argument
                                   : option->argument ? required_argument
                                                      : no_argument,
                        .val = option->letter ?: FIRST_NUMBER + list->n };
                if (option->letter)
                        g_string_append_printf(
                                list->letters, "%c%s", option->letter, option->argument ? ":" : "");
                list->n++;
        }
}

/* The "-" makes getopt_long() return words in their order, like options; optind makes it start anew. */
static void option_list_init(OptionList *list, const AldSynopsis *synopsis, char **args)
{
        guint n = g_strv_length(args);

        *list = (OptionList){ .synopsis = synopsis,
                .letters = g_string_new("-:"),
                .argv = g_new0(char *, n + 2),
                .argc = (int) n + 1,
                .words = g_ptr_array_new() };
        if (synopsis->usage)
                add_options(list, common_options);
        add_options(list, synopsis->options);
        list->argv[0] = (char *) "alidadectl";
        for (guint i = 0; i < n; i++)
                list->argv[i + 1] = args[i];
        optind = 0;
}

static void option_list_clear(OptionList *list)
{
        g_string_free(list->letters, TRUE);
        g_ptr_array_unref(list->words);
        g_free(list->argv);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OptionList, option_list_clear)

static bool has_ended(const OptionList *list)
{
        return list->synopsis->ends && list->words->len > 0 && list->synopsis->ends(list->words->pdata[0]);
}

/* Collects words up to the next option, for which it returns what getopt_long() does; at the end, also
 * collects the words that follow, and returns -1. */
static int next_option(OptionList *list)
{
        int c = -1;

        while (!has_ended(list) &&
                (c = getopt_long(list->argc, list->argv, list->letters->str, list->table, NULL)) == 1)
                g_ptr_array_add(list->words, optarg);
        if (c >= 0 && !has_ended(list))
                return c;
        for (; optind < list->argc; optind++)
                g_ptr_array_add(list->words, list->argv[optind]);
        return -1;
}

static const AldOption *find_option_by_code(const OptionList *list, int c)
{
        for (int i = 0; i < list->n; i++)
                if (list->table[i].val == c)
                        return list->options[i];
        return NULL;
}

/* Lists the verbs that take an option, to be printed before its text. The text may have no room on their
 * line. */
static char *format_verbs(const AldOption *option, const char *text)
{
        g_autofree char *list = option->verbs ? g_strjoinv(", ", (char **) option->verbs) : NULL;
        glong columns = USAGE_COLUMNS + 3 + g_utf8_strlen(list ?: "", -1) + 2 + g_utf8_strlen(text, -1);

        if (!list)
                return g_strdup("");
        return columns <= HELP_COLUMNS ? g_strconcat(list, ": ", NULL)
                                       : g_strdup_printf("%s:\n%*s", list, USAGE_COLUMNS + 3, "");
}

/* The text begins at the same column in the help of all verbs. */
static void print_option_help(const AldOption *option, bool with_verbs)
{
        g_auto(GStrv) lines = g_strsplit(option->help, "\n", -1);
        const char *argument = option->argument ?: "";
        g_autofree char *letter = option->letter ? g_strdup_printf("-%c", option->letter) : g_strdup("  ");
        g_autofree char *verbs = with_verbs ? format_verbs(option, lines[0]) : g_strdup("");
        g_autofree char *usage = *argument == '['
                                         ? g_strdup_printf("%s --%s[=%s", letter, option->name, argument + 1)
                                         : g_strdup_printf("%s --%s%s%s", letter, option->name,
                                                   *argument ? "=" : "", argument);
        int columns = (int) g_utf8_strlen(usage, -1);

        printf("  %s%*s", usage, columns > USAGE_COLUMNS ? 0 : USAGE_COLUMNS - columns + 1, "");
        if (columns > USAGE_COLUMNS)
                printf("\n%*s", USAGE_COLUMNS + 3, "");
        printf("%s%c%s\n", verbs, *verbs ? g_ascii_tolower(*lines[0]) : *lines[0], lines[0] + 1);
        for (char **line = lines + 1; *line; line++)
                printf("%*s%s\n", USAGE_COLUMNS + 3, "", *line);
}

bool ald_option_is_taken(const AldOption *option, const char *verb)
{
        return !verb || !option->verbs || g_strv_contains(option->verbs, verb);
}

void ald_options_print(const AldOption *options, const char *verb)
{
        puts("\nOptions:");
        for (const AldOption *option = options; option->name; option++)
                if (ald_option_is_taken(option, verb))
                        print_option_help(option, !verb);
}

static int print_help(const AldSynopsis *synopsis)
{
        g_auto(GStrv) usage = g_strsplit(synopsis->usage, "\n", -1);

        for (char **line = usage; *line; line++)
                printf("%s %s\n", line == usage ? "Usage:" : "      ", *line);
        printf("\n%s\n", synopsis->intro);
        if (synopsis->print_more)
                synopsis->print_more();
        ald_options_print(synopsis->options, "");
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

static bool check_word(const AldOption *option, const char *value)
{
        g_autoptr(GString) list = g_string_new(NULL);
        const char *word;

        for (size_t i = 0; (word = ald_option_word(option, i)); i++) {
                if (strcmp(word, value) == 0)
                        return true;
                g_string_append_printf(list, "%s%s", i > 0 ? ", " : "", word);
        }
        ald_print_error("--%s is one of %s, not \"%s\"", option->name, list->str, value);
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

static bool read_time(const AldOption *option, const char *value, uint64_t now_usec, uint64_t *ret)
{
        g_autofree char *problem = NULL;
        bool is_time = option->kind == ALD_OPTION_TIME;
        uint64_t usec;
        int r = is_time ? ald_time_parse(value, now_usec, option->repeated, &usec)
                        : ald_duration_parse(value, &usec);

        if (r >= 0 && !is_time && (usec == 0 || usec > ALD_INTEGER_MAX - now_usec))
                r = -ERANGE;
        if (r >= 0) {
                *ret = usec;
                return true;
        }
        problem = is_time ? ald_time_problem(r) : ald_duration_problem(value, r);
        ald_print_error("--%s=%s %s", option->name, value, problem);
        return false;
}

static bool check_text(const AldOption *option, const char *value)
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

/* Sets what the option sets; returns false if it reported an error. */
static bool read_option(const AldOption *option, void *order, const char *value, uint64_t now_usec)
{
        void *member = (char *) order + option->offset;

        switch (option->kind) {
        case ALD_OPTION_FLAG:
                *(bool *) member = true;
                return true;
        case ALD_OPTION_TEXT:
        case ALD_OPTION_RAW:
        case ALD_OPTION_WORD:
                if ((option->kind == ALD_OPTION_TEXT && !check_text(option, value)) ||
                        (option->kind == ALD_OPTION_WORD && !check_word(option, value)))
                        return false;
                *(const char **) member = value;
                return true;
        case ALD_OPTION_TEXTS:
                if (!check_text(option, value))
                        return false;
                g_ptr_array_add(*(GPtrArray **) member, g_strdup(value));
                return true;
        case ALD_OPTION_NUMBER:
                return read_number(option, value, member);
        case ALD_OPTION_BYTES:
                return read_size(option, value, member);
        case ALD_OPTION_TIME:
        case ALD_OPTION_DURATION:
                return read_time(option, value, now_usec, member);
        case ALD_OPTION_READ:
                return option->read(order, value);
        case ALD_OPTION_RUN: /* handled by ald_options_read() */
                break;
        case ALD_OPTION_COMMON:
                return read_common(order, option->name, value);
        }
        g_assert_not_reached();
}

int ald_options_read(const AldSynopsis *synopsis, void *order, char ***ret_words)
{
        const uint64_t now_usec = (uint64_t) g_get_real_time(); /* the same for all options */
        g_auto(OptionList) list = {};
        int c;

        option_list_init(&list, synopsis, ((const AldCtl *) order)->args);
        while ((c = next_option(&list)) >= 0) {
                const AldOption *option = find_option_by_code(&list, c);

                if (!option)
                        return ald_print_option_error(list.argv, c, list.table);
                if (option->kind == ALD_OPTION_RUN)
                        return option->run(order, list.words->len > 0 ? list.words->pdata[0] : NULL);
                if (c == 'h')
                        return print_help(synopsis);
                if (!read_option(option, order, optarg, now_usec))
                        return ALD_EXIT_USAGE;
        }
        g_ptr_array_add(list.words, NULL);
        *ret_words = (char **) g_ptr_array_steal(list.words, NULL);
        return -1;
}

int ald_words_check_count(char **words, unsigned least, unsigned most, const char *program, const char *usage)
{
        guint n = g_strv_length(words);

        if (n >= least && n <= most)
                return -1;
        if (n > most)
                ald_print_error("Unexpected argument \"%s\". Usage: %s %s", words[most], program, usage);
        else
                ald_print_error("Too few arguments. Usage: %s %s", program, usage);
        return ALD_EXIT_USAGE;
}

bool ald_options_have(const AldSynopsis *synopsis, const AldCtl *ctl, const char *name)
{
        g_auto(OptionList) list = {};
        bool found = false;
        int c;

        option_list_init(&list, synopsis, ctl->args);
        while ((c = next_option(&list)) >= 0) {
                const AldOption *option = find_option_by_code(&list, c);

                found |= option && strcmp(option->name, name) == 0;
        }
        return found;
}

void ald_typed_line_read(AldTypedLine *line, const AldSynopsis *synopsis, char **args)
{
        guint last = MAX(g_strv_length(args), 1) - 1;
        g_autofree char **complete = g_memdup2(args, sizeof(char *) * (last + 1));
        g_auto(OptionList) list = {};
        int c;

        line->synopsis = synopsis;
        line->current = args[last] ?: "";
        complete[last] = NULL;
        option_list_init(&list, synopsis, complete);
        while ((c = next_option(&list)) >= 0) {
                const AldOption *option = find_option_by_code(&list, c == ':' ? optopt : c);

                line->has_host |= option && strcmp(option->name, "host") == 0;
                line->awaited = c == ':' ? option : NULL;
        }
        line->is_ended = has_ended(&list) || g_strv_contains((const char *const *) complete, "--");
        g_ptr_array_add(list.words, NULL);
        line->words = (char **) g_ptr_array_steal(list.words, NULL);
}

void ald_typed_line_clear(AldTypedLine *line)
{
        g_free(line->words);
}

const AldOption *ald_options_misused(const AldSynopsis *synopsis, const AldCtl *ctl, const char *verb)
{
        for (const AldOption *option = synopsis->options; option->name; option++)
                if (!ald_option_is_taken(option, verb) && ald_options_have(synopsis, ctl, option->name))
                        return option;
        return NULL;
}
