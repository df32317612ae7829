/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "record/record-bus.h"

/*
 * Collects the unknown fields of a record while it is read from a message: fields of the record by name,
 * fields of rows as {list: [{"Id", …}]} for the rows that have any.
 */
typedef struct AldRawFields {
        json_t *before; /* borrowed: the raw fields of the record so far; NULL: none */
        json_t *fields, *absent, *lists, *row;
} AldRawFields;

/* For ald_record_bus_read_all(). */
AldUnknownFields ald_raw_fields_reader(AldRawFields *raw);

/* The raw fields after a message with the whole record: a new reference, or NULL for none. */
json_t *ald_raw_fields_all(AldRawFields *raw);

/* The same after a message with changes only. */
json_t *ald_raw_fields_merged(AldRawFields *raw);

void ald_raw_fields_clear(AldRawFields *raw);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldRawFields, ald_raw_fields_clear)
