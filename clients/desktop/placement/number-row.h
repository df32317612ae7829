/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>
#include <stdbool.h>
#include <stdint.h>

/* A row to enter a number: a count, or a size such as 40G. It is marked while the entry is wrong. */

typedef enum AldNumberKind {
        ALD_NUMBER_COUNT,
        ALD_NUMBER_BYTES,
} AldNumberKind;

GtkWidget *ald_number_row_new(
        const char *title, AldNumberKind kind, uint64_t minimum, uint64_t maximum, bool optional);

void ald_number_row_set(GtkWidget *row, uint64_t value);

/* Returns false if the entry is wrong. An empty entry, where allowed, is ALD_ABSENT_UINT64. */
bool ald_number_row_get(GtkWidget *row, uint64_t *ret);
