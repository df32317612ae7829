/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "clients/command-line/completion.h"

/* Only these characters are repeated to the shell, which could interpret others as code. */
#define LIST_CHARACTERS G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.,+-"

/* Leaves these kinds of words to the shell; two kinds are only values of options. */
static void complete_word(const AldTypedLine *line, AldCompletion completion)
{
        switch (completion) {
        case ALD_COMPLETE_NOTHING:
        case ALD_COMPLETE_COLUMN:
        case ALD_COMPLETE_LISTED:
                break;
        case ALD_COMPLETE_FILE:
                puts(":file");
                break;
        case ALD_COMPLETE_NODE:
                /* Reading the names from another machine might ask for a password. */
                if (!line->has_host)
                        puts(":node");
                break;
        case ALD_COMPLETE_HOST:
                puts(":host");
                break;
        case ALD_COMPLETE_COMMAND:
                printf(":command %u\n", g_strv_length(line->words));
                break;
        }
}

/* Returns the length of the part of a list that is complete, with the comma at its end and the sign before
 * the next name. */
static int measure_prefix(const AldOption *option, const char *typed)
{
        bool is_column = option->completion == ALD_COMPLETE_COLUMN;
        bool has_several = is_column || option->completion == ALD_COMPLETE_LISTED || option->is_list ||
                           option->is_pair;
        const char *last = has_several ? strrchr(typed, ',') : NULL;
        const char *next = last ? last + 1 : typed;

        if (is_column && (*next == '+' || *next == '-'))
                next++;
        return (int) (next - typed);
}

/* The words of a list are unique; both words of a pair may be the same, and no third follows them. */
static void print_words(const AldOption *option, int prefix, const char *typed)
{
        g_autofree char *list = g_strndup(typed, (gsize) prefix);
        g_auto(GStrv) listed = g_strsplit(list, ",", -1);
        const char *word;

        if (option->is_pair && prefix > 0 && memchr(typed, ',', (size_t) prefix - 1))
                return;
        for (size_t i = 0; (word = ald_option_word(option, i)); i++)
                if (option->is_pair || !g_strv_contains((const char *const *) listed, word))
                        printf("%.*s%s\n", prefix, typed, word);
}

/* Completes the value of an option: one of its words, or what the shell or the option itself lists. */
static void complete_value(
        const AldTypedLine *line, const AldOption *option, const char *typed, const char *verb)
{
        int prefix = measure_prefix(option, typed);

        /* Shells read this output line by line, and replace what was quoted with it. */
        if ((int) strspn(typed, LIST_CHARACTERS) < prefix)
                return;
        if (ald_option_word(option, 0))
                print_words(option, prefix, typed);
        else if (option->completion == ALD_COMPLETE_COLUMN || option->completion == ALD_COMPLETE_LISTED)
                printf(":listed %s %s %.*s\n", verb ?: *option->verbs,
                        option->completion == ALD_COMPLETE_COLUMN ? "columns" : option->name, prefix, typed);
        else
                complete_word(line, option->completion);
}

static void complete_options(const AldTypedLine *line, const char *verb)
{
        for (const AldOption *option = line->synopsis->options; option->name; option++) {
                int columns = (int) strcspn(option->help, "\n");
                bool needs_value = option->argument && option->argument[0] != '[';

                if (!ald_option_is_taken(option, verb))
                        continue;
                if (option->letter && line->current[0] == '-' && line->current[1] != '-')
                        printf("-%c\t%.*s\n", option->letter, columns, option->help);
                printf("--%s%s\t%.*s\n", option->name, needs_value ? "=" : "", columns, option->help);
        }
}

bool ald_complete_option(const AldTypedLine *line, const char *verb)
{
        const char *current = line->current, *value = strchr(current, '=');
        g_autofree char *name = NULL;

        if (line->awaited) {
                complete_value(line, line->awaited, current, verb);
        } else if (line->is_ended || current[0] != '-') {
                return false;
        } else if (g_str_has_prefix(current, "--") && value) {
                name = g_strndup(current + 2, (gsize) (value - current - 2));
                for (const AldOption *option = line->synopsis->options; option->name; option++)
                        if (strcmp(option->name, name) == 0 && ald_option_is_taken(option, verb))
                                complete_value(line, option, value + 1, verb);
        } else {
                complete_options(line, verb);
        }
        return true;
}

void ald_complete_verb(const AldTypedLine *line, const char *verb, AldCompletion completion)
{
        const AldSynopsis *synopsis = line->synopsis;
        const char *first = line->words[0];

        if (ald_complete_option(line, verb))
                return;
        for (const char *const *word = synopsis->first_words; !first && word && *word; word++)
                puts(*word);
        for (size_t i = 0; !first && synopsis->first_word_at && synopsis->first_word_at(i); i++)
                puts(synopsis->first_word_at(i));
        if (first && synopsis->before_node && g_strv_contains(synopsis->before_node, first))
                completion = ALD_COMPLETE_NODE;
        /* If a verb takes nothing else, its options are offered even without a "-". */
        if (completion == ALD_COMPLETE_NOTHING && synopsis->usage && !synopsis->first_words &&
                !synopsis->first_word_at && !line->is_ended)
                complete_options(line, verb);
        else
                complete_word(line, completion);
}
