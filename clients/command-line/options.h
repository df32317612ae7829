/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#include "clients/command-line/ctl.h"
#include "clients/common/time-parse.h"
#include "record/field.h"

/* The kind of an option decides what it sets in the struct of its verb. */
typedef enum AldOptionKind {
        ALD_OPTION_FLAG,     /* bool */
        ALD_OPTION_TEXT,     /* const char *: UTF-8, since the bus carries no other text */
        ALD_OPTION_TEXTS,    /* GPtrArray *: takes the option more than once */
        ALD_OPTION_RAW,      /* const char *: as typed, such as a path, or text that is parsed later */
        ALD_OPTION_WORD,     /* const char *: one of its words */
        ALD_OPTION_NUMBER,   /* uint64_t: from 1 to max */
        ALD_OPTION_BYTES,    /* uint64_t: a size with its unit */
        ALD_OPTION_TIME,     /* uint64_t: µs of CLOCK_REALTIME */
        ALD_OPTION_DURATION, /* uint64_t: µs from now, greater than 0 */
        ALD_OPTION_READ,     /* read() sets the members */
        ALD_OPTION_RUN,      /* run() carries it out at once, and nothing else is done */
        ALD_OPTION_COMMON,   /* a member of AldCtl, with which the struct begins */
} AldOptionKind;

/* The way in which the shell completes the value of an option that has no words. */
typedef enum AldCompletion {
        ALD_COMPLETE_NOTHING,
        ALD_COMPLETE_FILE,
        ALD_COMPLETE_NODE,
        ALD_COMPLETE_HOST,
        ALD_COMPLETE_COLUMN, /* a list of columns of the verb, which --columns=help prints */
        ALD_COMPLETE_LISTED, /* a list of words that the option itself prints for "help" */
        ALD_COMPLETE_COMMAND,
} AldCompletion;

/* Returns the i-th word, from 0; NULL at the end. */
typedef const char *AldWordAt(size_t i);

typedef struct AldOption {
        const char *name; /* NULL ends a table */
        char letter;
        const char *argument; /* as the help shows it; NULL: the option takes no value */
        const char *help;     /* its lines have up to 80 columns */
        AldOptionKind kind;
        size_t offset;
        uint64_t max;
        AldRepeatedTime repeated; /* of ALD_OPTION_TIME */
        const char *const *words; /* values of ALD_OPTION_WORD; else words to complete */
        AldWordAt *word_at;       /* used instead of words, like the next two: returns them, */
        const AldStruct *type;    /* or they are those of a field of this type */
        const char *field;        /* with this name */
        AldCompletion completion;
        bool is_list; /* takes several of its words, separated by commas */
        bool is_pair; /* takes one or two of its words, separated by a comma */
        bool (*read)(void *order, const char *value); /* returns false if it reported an error */
        /* `verb` is the one before the option, or NULL. Returns an exit code. */
        int (*run)(const void *order, const char *verb);
        const char *const *verbs; /* the verbs that take it, in a table that several share; NULL: all */
} AldOption;

#define ALD_OPTION_VERBS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* An option that sets a member of a struct; more members of AldOption may follow. */
#define ALD_OPTION(type_of_value, option, value, order, member, text, ...)                                 \
        {                                                                                                  \
                .name = (option), .argument = (value), .help = (text), .kind = ALD_OPTION_##type_of_value, \
                .offset = offsetof(order, member), __VA_ARGS__                                             \
        }

/* Options that most verbs have. Each verb accepts all of them, but its help shows only those in its table. */
#define ALD_OPTION_HELP                                                                            \
        {                                                                                          \
                .name = "help", .letter = 'h', .help = "Show this help", .kind = ALD_OPTION_COMMON \
        }
#define ALD_OPTION_HOST(text)                                                           \
        {                                                                               \
                .name = "host", .letter = 'H', .argument = "USER@HOST", .help = (text), \
                .kind = ALD_OPTION_COMMON, .completion = ALD_COMPLETE_HOST              \
        }
#define ALD_OPTION_JSON(text)                                                                    \
        {                                                                                        \
                .name = "json", .argument = "[MODE]", .help = (text), .kind = ALD_OPTION_COMMON, \
                .words = ald_json_modes                                                          \
        }
#define ALD_OPTION_NO_PAGER                                                                   \
        {                                                                                     \
                .name = "no-pager", .help = "Do not start a pager", .kind = ALD_OPTION_COMMON \
        }
#define ALD_OPTION_NO_ASK_PASSWORD                                                                        \
        {                                                                                                 \
                .name = "no-ask-password", .help = "Do not ask for a password", .kind = ALD_OPTION_COMMON \
        }

/* Options of verbs that print a table; `takers` is like `verbs` of AldOption. */
#define ALD_OPTION_COLUMNS(takers)                                                                         \
        ALD_OPTION(RAW, "columns", "NAME,…", AldCtl, columns,                                              \
                "Show a table with these columns; \"help\" lists them", .completion = ALD_COMPLETE_COLUMN, \
                .verbs = (takers))
#define ALD_OPTION_SORT(takers)                                               \
        ALD_OPTION(RAW, "sort", "NAME,…", AldCtl, sort,                       \
                "Sort by these columns; \"-\" before one reverses its order", \
                .completion = ALD_COMPLETE_COLUMN, .verbs = (takers))
#define ALD_OPTION_CSV(takers) \
        ALD_OPTION(FLAG, "csv", NULL, AldCtl, csv, "Print comma-separated values", .verbs = (takers))

extern const char *const ald_json_modes[];

/* The command line of a verb, or of a program whose verbs share a table. */
typedef struct AldSynopsis {
        const char *
                usage; /* lines that begin with "alidadectl"; NULL for a program, which prints its own help */
        const char *intro;
        void (*print_more)(void); /* prints what follows the intro; or NULL */
        const char *outro;        /* NULL: none */
        const AldOption *options;
        const char *const *first_words;  /* one of these must come first, */
        AldWordAt *first_word_at;        /* or one of these; both NULL: any word */
        const char *const *before_node;  /* first words that a node may follow */
        bool (*ends)(const char *first); /* true if no options of the table follow this first word; or NULL */
} AldSynopsis;

/*
 * Reads what follows the verb into its struct, which begins with an AldCtl that has the options before the
 * verb. *ret_words are the words that are not options, for g_free(). Returns an exit code if there is nothing
 * more to do, such as after --help or a reported error, else -1.
 */
int ald_options_read(const AldSynopsis *synopsis, void *order, char ***ret_words);

/* Returns true if an option is given, possibly after an invalid one. */
bool ald_options_have(const AldSynopsis *synopsis, const AldCtl *ctl, const char *name);

/* Returns an option that is given, but that this verb does not take; NULL if there is none. */
const AldOption *ald_options_misused(const AldSynopsis *synopsis, const AldCtl *ctl, const char *verb);

/* Checks the number of words after a verb. Returns -1 if it is right, else reports the usage, such as
 * "alidadectl" and "show NODE", and returns the exit code. */
int ald_words_check_count(
        char **words, unsigned least, unsigned most, const char *program, const char *usage);

/* A command line that is still being typed. */
typedef struct AldTypedLine {
        const AldSynopsis *synopsis;
        char **words;             /* complete words that are not options, as from ald_options_read() */
        const char *current;      /* the incomplete last word, possibly "" */
        const AldOption *awaited; /* the last word is the value of this option; or NULL */
        bool is_ended;            /* no option may follow */
        bool has_host;            /* the command is for another machine */
} AldTypedLine;

void ald_typed_line_clear(AldTypedLine *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldTypedLine, ald_typed_line_clear)

/* Reads the words of the line, of which the last is incomplete; errors in the line are ignored. */
void ald_typed_line_read(AldTypedLine *line, const AldSynopsis *synopsis, char **args);

/* Returns true if the verb takes the option; always for NULL. */
bool ald_option_is_taken(const AldOption *option, const char *verb);

/* Prints the options that a verb takes; for NULL, all options, with the verbs of each. */
void ald_options_print(const AldOption *options, const char *verb);

/* Reports the usage, and returns the exit code. */
int ald_options_print_usage(const AldSynopsis *synopsis);

/* Returns the i-th word that the option takes as a value, from 0; NULL at the end. */
const char *ald_option_word(const AldOption *option, size_t i);
