/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <getopt.h>
#include <glib.h>
#include <jansson.h>

#include "clients/command-line/ctl.h"

/* The properties of the output. */
typedef struct AldStyleInfo {
        bool terminal; /* standard output is a terminal */
        bool colours;
        bool utf8;
        unsigned columns; /* 0: no limit */
        unsigned rows;    /* 0: unknown */
} AldStyleInfo;

/* Determines the properties from standard output and the environment (COLUMNS, LINES, NO_COLOR, TERM and the
 * locale). */
AldStyleInfo ald_style_info(void);

/* Prints a styled text, through a pager if that is enabled and the text is longer than the terminal. */
int ald_print(const AldCtl *ctl, const AldStyleInfo *info, const char *styled);

/* Prints a JSON value on one line, or on several if pretty. */
int ald_print_json(const AldCtl *ctl, json_t *value);

/* Returns JSON text, in which characters that would control a terminal are escaped. */
char *ald_json_text(const json_t *value, AldJsonMode mode);

/* Parses the argument of --json, NULL if there is none; reports errors. */
int ald_json_parse_mode(const char *mode, AldJsonMode *ret);

/* Prints a line that says what was done; names in it may come from other machines. Returns an exit code. */
int ald_print_done(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Flushes the output. Returns an exit code. */
int ald_print_finish(void);

/* Reports an error of getopt_long() with these options when opterr is 0: c is '?' or ':'. Returns the exit
 * code. */
int ald_print_option_error(char **argv, int c, const struct option *options);

/* Returns "did you mean \"status\"? See" if one of the NULL-terminated names is close to the word, else
 * "see". */
char *ald_did_you_mean(const char *word, const char *const *names);

/* Prints an error message to standard error; shortens a long text in its middle. */
void ald_print_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
