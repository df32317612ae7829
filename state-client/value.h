/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "record/field.h"

/*
 * Reads D-Bus values as JSON. Absent values are omitted: UINT64_MAX, INT64_MIN, NaN, infinity, "" and an
 * empty list of strings. So are values of other types, integers that JSON cannot hold, and strings, lists and
 * dictionaries beyond the limits below. Functions return a negative errno only if the message itself cannot
 * be read.
 */
#define ALD_VALUE_STRING_MAX (16u * 1024)    /* bytes */
#define ALD_VALUE_FIELDS_MAX 256u            /* in one dictionary */
#define ALD_VALUE_ROWS_MAX 8192u             /* in one list */
#define ALD_VALUE_NAME_MAX 64u               /* bytes of a field name */
#define ALD_VALUE_SPACE (128u * 1024 * 1024) /* bytes that a reading may take by default */

/* Returns the bytes of memory that a value takes, estimated high rather than low; 0 for NULL. */
size_t ald_value_size(const json_t *value);

/* Returns whether this is a valid field name: letters and digits, starting with a letter. */
bool ald_value_is_name(const char *name);

/*
 * Functions that end in _within() take *space: the bytes, as ald_value_size() counts them, that the values
 * may still take. They subtract what they use, and return -EDQUOT if it is not enough. The other functions
 * start with ALD_VALUE_SPACE.
 */

/* Reads a{sv} into an object. Names of absent fields are added to `absent`, which may be NULL. */
int ald_value_read_dict(sd_bus_message *m, json_t *into, json_t *absent);
int ald_value_read_dict_within(sd_bus_message *m, size_t *space, json_t *into, json_t *absent);

/* Reads the variant of one field into an object. `in_row` is true for a field of a row. */
int ald_value_read_field_within(
        sd_bus_message *m, size_t *space, const char *name, bool in_row, json_t *into, json_t *absent);

/* Reads aa{sv}, a list of rows. */
int ald_value_read_rows(sd_bus_message *m, json_t *into);
int ald_value_read_rows_within(sd_bus_message *m, size_t *space, json_t *into);

/* Reads rows that may contain rows, and keeps at most `max`. */
int ald_value_read_list(sd_bus_message *m, size_t max, json_t *into);

/* Sets the strings and numbers of a struct from an object with fields; those that are missing or have another
 * type are absent. Strings belong to the object. */
void ald_value_to_struct(const json_t *fields, const AldStruct *type, void *ret);
