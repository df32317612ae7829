/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "clients/alidadectl/ctl.h"

/* Where the output goes. */
typedef struct AldStyleInfo {
        bool terminal; /* standard output is one */
        bool colours;
        bool utf8;
        unsigned columns; /* 0: as many as it takes */
        unsigned rows;    /* 0: unknown */
} AldStyleInfo;

/* Asks standard output and the environment (COLUMNS, LINES, NO_COLOR, TERM and the locale). */
AldStyleInfo ald_style_info(void);

/* Prints a styled text, through a pager if it is to be and the text outgrows the terminal. */
int ald_print(const AldCtl *ctl, const AldStyleInfo *info, const char *styled);

/* Prints a JSON value on a line (or more, where pretty) of its own. */
int ald_print_json(const AldCtl *ctl, json_t *value);

/* JSON text; characters that a terminal would obey are escaped. */
char *ald_json_text(const json_t *value, AldJsonMode mode);

/* Reads the argument of --json, NULL where it has none; complains. */
int ald_json_parse_mode(const char *mode, AldJsonMode *ret);

/* Has what was printed written out; an exit code. */
int ald_print_finish(void);

/* What getopt_long(), told not to print, found wrong: c is '?' or ':'. Returns the exit code. */
int ald_complain_option(char **argv, int c);

/* Says on standard error what is wrong; of a long text beginning and end. */
void ald_complain(const char *format, ...) G_GNUC_PRINTF(1, 2);
