/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Says in *ret_error what is wrong with the command line: -EINVAL. */
int ald_arguments_refuse(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A whole number from min to max, behind --NAME. */
int ald_arguments_number(
        const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret, char **ret_error);
