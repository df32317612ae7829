/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "record/record.h"

/* Records as they travel on the bus. All return negative errno. */

/* By kind; the userdata of an object is its AldRecord. Generated. */
extern const sd_bus_vtable *const ald_record_vtables[ALD_N_KINDS];

/* The properties of org.alidade.State1 that its struct holds; the userdata is an AldClusterTotals. Generated.
 */
extern const sd_bus_vtable ald_cluster_totals_vtable[];

/* Property getter of a list of rows, for these vtables. */
int ald_record_bus_get_rows(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error);

/* Appends the fields that are there: a{sv}. With `updated_usec` not 0 also UpdatedUSec. */
int ald_record_bus_append(sd_bus_message *message, const AldRecord *record, uint64_t updated_usec);

/* Appends all properties of its object as a{sv}: with the envelope, and what is absent too, as
 * Properties.GetAll() does. */
int ald_record_bus_append_properties(sd_bus_message *message, const AldRecord *record);

/* The same with its interface before it, as one entry of a{sa{sv}}. */
int ald_record_bus_append_interface(sd_bus_message *message, const AldRecord *record);

/* Appends one field, absent or not, as an entry of an a{sv}. */
int ald_record_bus_append_field(sd_bus_message *message, const AldField *field, const void *base);

/* Appends what is there of any struct that a field table describes, as entries of an a{sv} that is open. */
int ald_record_bus_append_fields(sd_bus_message *message, const AldStruct *type, const void *fields);

/* The same as a whole a{sv}. */
int ald_record_bus_append_struct(sd_bus_message *message, const AldStruct *type, const void *fields);

/*
 * Reads an aa{sv} of structs that a field table describes; unknown fields are skipped, and those of another
 * type or out of range are absent. Strings point into the message; the rest goes with `owned`, an array that
 * frees with g_free(). -E2BIG where that would be more than `max_bytes`; any other error is sd-bus's own.
 */
int ald_record_bus_read_rows(
        sd_bus_message *message, const AldStruct *type, size_t max_bytes, GPtrArray *owned, AldRows *ret);

/*
 * Reads an a{sv} of fields. Fields that are not in it are taken from `base`, or absent where that is NULL.
 * Unknown fields are skipped: a newer peer sends them. The envelope goes into the record where it is there.
 * -EBADMSG for a field of another type, -ERANGE for a number or string out of range, -E2BIG for more rows or
 * strings than a record holds; *ret_field (maybe NULL) then names the field. -E2BIG without a field where all
 * of it is too large. Any other error is sd-bus's own, and leaves *ret_field alone: nothing more can be read
 * of the message. -EBADMSG then is for a string that sd-bus does not take, such as one with a noncharacter.
 */
int ald_record_bus_read(sd_bus_message *message, AldKind kind, const AldRecord *base, AldRecord **ret,
        const char **ret_field);

/* Takes the fields that a table does not have, or not of this type, as a newer peer sends them, while a
 * record is read. */
typedef struct AldUnknownFields {
        /* Reads the value, a variant; of a row where `in_row`. Returns negative errno of sd-bus. */
        int (*read)(sd_bus_message *message, const char *name, bool in_row, void *userdata);
        /* A row of a known list was read, after its unknown fields. */
        void (*end_row)(const AldField *list, const void *row, void *userdata);
        /* A field of the record itself was read, with the type that its table gives. May be NULL. */
        void (*known)(const AldField *field, void *userdata);
        void *userdata;
} AldUnknownFields;

/* The same for clients: unknown fields are not skipped, and one of another type or out of range is absent and
 * does not refuse the record. -E2BIG, without a field or with it, remains, and so do errors of sd-bus. */
int ald_record_bus_read_all(sd_bus_message *message, AldKind kind, const AldRecord *base,
        const AldUnknownFields *unknown, AldRecord **ret, const char **ret_field);

/* Appends what PropertiesChanged says of the fields of the set (see ald_record_diff()), and the envelope:
 * sa{sv}as. */
int ald_record_bus_append_changed(sd_bus_message *message, const AldRecord *record, uint64_t fields);
