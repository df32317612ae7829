/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "record/record.h"

/* Reads and writes records on the bus. Functions return a negative errno. */

/* The vtables by kind; the userdata of an object is its AldRecord. Generated. */
extern const sd_bus_vtable *const ald_record_vtables[ALD_N_KINDS];

/* Gets a property that is a list of rows, for these vtables. */
int ald_record_bus_get_rows(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error);

/* Appends the fields that are not absent as an a{sv}, with UpdatedUSec unless `updated_usec` is 0. */
int ald_record_bus_append(sd_bus_message *message, const AldRecord *record, uint64_t updated_usec);

/* Appends the interface of a record, with its present fields and the envelope, as one entry of an a{sa{sv}}.
 * Clients read a missing property as absent. */
int ald_record_bus_append_interface(sd_bus_message *message, const AldRecord *record);

/* Appends the value of a field, absent or not. */
int ald_record_bus_append_value(sd_bus_message *message, const AldField *field, const void *value);

/* Appends a field, absent or not, as an entry of an a{sv}. */
int ald_record_bus_append_field(sd_bus_message *message, const AldField *field, const void *base);

/* Appends the fields that are not absent of any struct with a field table, as entries of an open a{sv}. */
int ald_record_bus_append_fields(sd_bus_message *message, const AldStruct *type, const void *fields);

/* Appends the fields that are not absent as a whole a{sv}. */
int ald_record_bus_append_struct(sd_bus_message *message, const AldStruct *type, const void *fields);

/* The first opens an array of rows, which sd_bus_message_close_container() closes. The second appends one
 * row: an a{sv}, or a struct if the type has fixed fields. An absent fixed field is written like an absent
 * property. */
int ald_record_bus_open_rows(sd_bus_message *message, const AldStruct *type);
int ald_record_bus_append_row(sd_bus_message *message, const AldStruct *type, const void *fields);

/*
 * Reads such an array. Unknown fields are skipped; fields of the wrong type or out of range are absent.
 * Strings point into the message; other memory is added to `owned`, an array that frees with g_free().
 * Returns -E2BIG if that would exceed `max_bytes`; other errors are those of sd-bus.
 */
int ald_record_bus_read_rows(
        sd_bus_message *message, const AldStruct *type, size_t max_bytes, GPtrArray *owned, AldRows *ret);

/* Reads one row, an a{sv} or a struct, in the same way. */
int ald_record_bus_read_row(
        sd_bus_message *message, const AldStruct *type, size_t max_bytes, GPtrArray *owned, void *ret);

/*
 * Reads an a{sv} of fields. Missing fields are taken from `base`, or are absent if that is NULL. Unknown
 * fields are skipped, since a newer peer may send them. The envelope is set if it is present. Returns -ENXIO
 * for a field of the wrong type, -ERANGE for a number or string out of range, and -E2BIG for more rows or
 * strings than a record can hold; *ret_field (may be NULL) is then the name of the field. Returns -E2BIG
 * without a field if the whole record is too large. Other errors are those of sd-bus, leave *ret_field
 * unchanged, and mean that nothing more can be read from the message; -EBADMSG is a string that sd-bus
 * refuses, such as one with a noncharacter.
 */
int ald_record_bus_read(sd_bus_message *message, AldKind kind, const AldRecord *base, AldRecord **ret,
        const char **ret_field);

/* While a record is read, receives the fields that are not in the table, or have another type there, because
 * a newer peer sent them. */
typedef struct AldUnknownFields {
        /* Reads the value, a variant. `in_row` is true for a field of a row. Returns a negative errno of
         * sd-bus. */
        int (*read)(sd_bus_message *message, const char *name, bool in_row, void *userdata);
        /* Called after a row of a known list was read with its unknown fields. */
        void (*end_row)(const AldField *list, const void *row, void *userdata);
        /* Called after a field of the record itself was read with the type of the table. May be NULL. */
        void (*known)(const AldField *field, void *userdata);
        void *userdata;
} AldUnknownFields;

/* Reads an a{sv} of fields for clients: passes on unknown fields, and makes fields of the wrong type or out
 * of range absent instead of refusing the record. Still returns -E2BIG and errors of sd-bus. */
int ald_record_bus_read_all(sd_bus_message *message, AldKind kind, const AldRecord *base,
        const AldUnknownFields *unknown, AldRecord **ret, const char **ret_field);

/* Appends the contents of PropertiesChanged, sa{sv}as, for the fields in the set (see ald_record_diff()) and
 * the envelope. */
int ald_record_bus_append_changed(sd_bus_message *message, const AldRecord *record, uint64_t fields);
