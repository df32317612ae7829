/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "clients/common/columns/column-choice.h"

/* Writes rows for other programs. Absent values are omitted. In JSON, numbers with a given unit are either
 * always integers or never, like the fields of records in that unit. */

/* Returns an array of objects, with the keys of the columns. */
json_t *ald_columns_to_json(const AldColumnChoice *choice, const GArray *rows);

/* Appends lines that end with CR LF as in RFC 4180; the first has the keys of the columns. */
void ald_columns_append_csv(GString *out, const AldColumnChoice *choice, const GArray *rows);

/* Appends safe text as a field of CSV, quoted if necessary. Texts come from other nodes, so one that a
 * spreadsheet would compute as a formula gets an apostrophe in front. */
void ald_csv_append_text(GString *out, const char *text);

/* Appends a number as a field of CSV; nothing if it is absent. */
void ald_csv_append_number(GString *out, double value);
