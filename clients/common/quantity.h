/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Reads what people write for a quantity, such as 40GiB or 0.3ms. */

typedef struct AldQuantityUnit {
        const char *name; /* NULL ends a table */
        double factor;
} AldQuantityUnit;

/* A decimal number and one of the units; a space may stand between. Only 0 needs no unit. -ENOTUNIQ if the
 * unit is missing, -EINVAL if it is no such quantity. */
int ald_quantity_parse(const char *text, const AldQuantityUnit *units, double *ret);

/* A size, as coreutils read them: K or KiB is 1024 bytes, kB or KB 1000. Also -ERANGE, beyond 2^53 bytes. */
int ald_size_parse(const char *text, uint64_t *ret);

/* Continues "… is "; why ald_size_parse() refused the text with `r`. */
char *ald_size_problem(const char *text, int r);
