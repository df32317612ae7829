/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/* The command line of a program that measures, read with GOption. */

/* The parts of a program's help. */
typedef struct AldCommandLine {
        const char *program;    /* its name, whose manual page is in section 1 */
        const char *parameters; /* arguments of a typical call */
        const char *summary;
} AldCommandLine;

/* Defines an option that takes an argument, whose bytes are kept as they are in any locale. */
#define ALD_COMMAND_LINE_TEXT(name, place, description, argument)               \
        {                                                                       \
                name, 0, 0, G_OPTION_ARG_FILENAME, place, description, argument \
        }
#define ALD_COMMAND_LINE_SWITCH(name, place, description)               \
        {                                                               \
                name, 0, 0, G_OPTION_ARG_NONE, place, description, NULL \
        }

/* The same for options that --help does not list. */
#define ALD_COMMAND_LINE_HIDDEN_TEXT(name, place)                                       \
        {                                                                               \
                name, 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, place, NULL, NULL \
        }
#define ALD_COMMAND_LINE_HIDDEN_SWITCH(name, place)                                 \
        {                                                                           \
                name, 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, place, NULL, NULL \
        }

/*
 * Reads the options of these tables (a list that ends with NULL), and --help and --version. Returns 0 with
 * the arguments that are not options; 1 with the output of --help or --version, whichever comes first; or
 * -EINVAL with the reason. userdata is passed to the callbacks of the tables.
 */
int ald_command_line_parse(const AldCommandLine *line, const GOptionEntry *const *tables, void *userdata,
        int argc, char **argv, char ***ret_rest, char **ret_output, char **ret_error);

/* Sets *ret_error to the problem with the command line, and returns -EINVAL. */
int ald_command_line_refuse(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parses an integer from min to max, the argument of --NAME. If text is NULL, the option was not given, and
 * *ret keeps its value. */
int ald_command_line_uint64(
        const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret, char **ret_error);
int ald_command_line_unsigned(
        const char *name, const char *text, unsigned min, unsigned max, unsigned *ret, char **ret_error);

/* The same for a file descriptor. */
int ald_command_line_fd(const char *name, const char *text, int *ret, char **ret_error);

#define ALD_COMMAND_LINE_BYTES_MAX (UINT64_C(1) << 50)

/* The same for a number of bytes, optionally with a suffix of K, M, G or T (powers of 1000). */
int ald_command_line_bytes(const char *name, const char *text, uint64_t *ret, char **ret_error);

/* Selects the encoding of the user's locale, and makes writes to a closed pipe fail instead of raising a
 * signal. Each program calls this first. */
void ald_command_line_set_up(void);

/* Prints what ald_command_line_parse() returned for --help, --version or an error, and returns the exit
 * status. */
int ald_command_line_end(const AldCommandLine *line, int result, const char *output, const char *error);
