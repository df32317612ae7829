/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <getopt.h>
#include <stdint.h>

/* Describes in *ret_error what is wrong with the command line, and returns -EINVAL. */
int ald_arguments_refuse(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Handles one option, with optarg. Returns more than 0 if the rest of the command line is to be ignored. */
typedef int (*AldArgumentsSet)(void *options, int option, char **ret_error);

/* Reads all options: those of the table, and -h. Returns the result of `set` if that is not 0; else optind is
 * the first argument that is not an option. */
int ald_arguments_read(int argc, char **argv, const struct option *table, AldArgumentsSet set, void *options,
        char **ret_error);

/* Parses an integer from min to max, the argument of --NAME. */
int ald_arguments_number(
        const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret, char **ret_error);

#define ALD_ARGUMENTS_BYTES_MAX (UINT64_C(1) << 50)

/* Parses a number of bytes, optionally with a suffix of K, M, G or T (powers of 1000). */
int ald_arguments_bytes(const char *name, const char *text, uint64_t *ret, char **ret_error);
