/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Reads quantities as people write them, such as 40GiB or 0.3ms. */

typedef struct AldQuantityUnit {
        const char *name; /* NULL ends a table */
        double factor;
} AldQuantityUnit;

/* Reads a decimal number and one of the units, optionally with a space between them. Only 0 needs no unit.
 * Returns -ENOTUNIQ if the unit is missing, -EINVAL if the text is not such a quantity. */
int ald_quantity_parse(const char *text, const AldQuantityUnit *units, double *ret);

/* Reads a size as coreutils do: K or KiB is 1024 bytes, kB or KB 1000. Also returns -ERANGE, beyond 2^53
 * bytes. */
int ald_size_parse(const char *text, uint64_t *ret);

/* Returns why ald_size_parse() rejected the text with `r`, as the continuation of "… is ". */
char *ald_size_problem(const char *text, int r);
