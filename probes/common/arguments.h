/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <getopt.h>
#include <stdint.h>

/* Says in *ret_error what is wrong with the command line: -EINVAL. */
int ald_arguments_refuse(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One option, with optarg. More than 0: nothing of what follows matters. */
typedef int (*AldArgumentsSet)(void *options, int option, char **ret_error);

/* All options there are; -h besides those of the table. What `set` returned where that is not 0; else optind
 * is the first word that is no option. */
int ald_arguments_read(int argc, char **argv, const struct option *table, AldArgumentsSet set, void *options,
        char **ret_error);

/* A whole number from min to max, behind --NAME. */
int ald_arguments_number(
        const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret, char **ret_error);

#define ALD_ARGUMENTS_BYTES_MAX (UINT64_C(1) << 50)

/* A number of bytes, maybe with one of KMGT behind: powers of 1000. */
int ald_arguments_bytes(const char *name, const char *text, uint64_t *ret, char **ret_error);
