/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads what people write for a quantity, such as 40G or 1.5GiB. */

/* A number with a unit out of `units`, each of which is `step` times the one before it; `end` may follow.
 * False for what is negative or no such number. */
bool ald_quantity_parse(const char *text, const char *units, double step, const char *end, double *ret);

/* A size, whose units are powers of 1024, up to 2^53 bytes. */
bool ald_quantity_parse_bytes(const char *text, uint64_t *ret);
