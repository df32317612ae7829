/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Compares two cells of a column; the result is negative, 0 or positive. A view that sorts in descending
 * order reverses the result; with `descending`, absent values still come last.
 */

/* NaN is absent. */
int ald_order_numbers(double a, double b, bool descending);

/* Compares keys of ald_order_key(). */
int ald_order_keys(const char *a, const char *b, bool descending);

/* Returns a key by which texts are sorted as people sort file names: "node9" is before "node10". NULL if the
 * text is absent. To be freed. */
char *ald_order_key(const char *text);
