/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "record/record-bus.h"

/*
 * Collects the fields of a record that its table does not have, while it is read from a message: those of the
 * record by name, those of rows as {list: [{"Id", …}]}, with the rows that have any.
 */
typedef struct AldRawFields {
        json_t *before; /* borrowed: what was collected of the record before; NULL: nothing */
        json_t *fields, *absent, *lists, *row;
} AldRawFields;

/* For ald_record_bus_read_all(). */
AldUnknownFields ald_raw_fields_reader(AldRawFields *raw);

/* What the record has after a message that told all of it: a new reference, or NULL for nothing. */
json_t *ald_raw_fields_all(AldRawFields *raw);

/* The same after a message that told changes only. */
json_t *ald_raw_fields_merged(AldRawFields *raw);

void ald_raw_fields_clear(AldRawFields *raw);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldRawFields, ald_raw_fields_clear)
