/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state-client/raw-fields.h"
#include "state-client/value.h"

static json_t *ensure(json_t **value, json_t *(*make)(void) )
{
        if (!*value)
                *value = make();
        return *value;
}

static int read_field(sd_bus_message *message, const char *name, bool in_row, void *userdata)
{
        AldRawFields *raw = userdata;

        if (in_row)
                return ald_value_read_field(message, name, true, ensure(&raw->row, json_object), NULL);
        return ald_value_read_field(
                message, name, false, ensure(&raw->fields, json_object), ensure(&raw->absent, json_array));
}

/* A list is always sent in full, so one that had unknown fields before may have none now. */
static json_t *ensure_list(AldRawFields *raw, const char *name)
{
        json_t *list = json_object_get(ensure(&raw->lists, json_object), name);

        if (list)
                return list;
        list = json_array();
        json_object_set_new(raw->lists, name, list);
        return list;
}

static void end_row(const AldField *list, const void *row, void *userdata)
{
        AldRawFields *raw = userdata;
        const char *id = *(const char *const *) row; /* the first field of every row of a record */
        json_t *rows;

        if (!raw->row && !json_object_get(raw->before, list->name))
                return;
        rows = ensure_list(raw, list->name);
        if (raw->row && id && json_object_size(raw->row) > 0 && json_array_size(rows) < ALD_VALUE_ROWS_MAX) {
                json_object_set_new(raw->row, "Id", json_string(id));
                json_array_append(rows, raw->row);
        }
        g_clear_pointer(&raw->row, json_decref);
}

/* It may have come with another type before, or as a list whose rows had unknown fields. */
static void drop_known(const AldField *field, void *userdata)
{
        AldRawFields *raw = userdata;

        if (json_object_get(raw->before, field->name))
                json_array_append_new(ensure(&raw->absent, json_array), json_string(field->name));
}

AldUnknownFields ald_raw_fields_reader(AldRawFields *raw)
{
        return (AldUnknownFields){
                .read = read_field, .end_row = end_row, .known = drop_known, .userdata = raw
        };
}

/* Adds the collected fields. Takes ownership of `fields`, which may be NULL. */
static json_t *add_to(json_t *fields, const AldRawFields *raw)
{
        const char *name;
        json_t *value;
        size_t i;

        if (!fields)
                fields = json_object();
        json_object_update(fields, raw->fields);
        json_array_foreach(raw->absent, i, value)
                json_object_del(fields, json_string_value(value));
        json_object_foreach(raw->lists, name, value) {
                if (json_array_size(value) > 0)
                        json_object_set(fields, name, value);
                else
                        json_object_del(fields, name);
        }
        if (json_object_size(fields) == 0)
                g_clear_pointer(&fields, json_decref);
        return fields;
}

json_t *ald_raw_fields_all(AldRawFields *raw)
{
        return raw->fields || raw->lists ? add_to(NULL, raw) : NULL;
}

json_t *ald_raw_fields_merged(AldRawFields *raw)
{
        return raw->before || raw->fields || raw->lists ? add_to(json_copy(raw->before), raw) : NULL;
}

void ald_raw_fields_clear(AldRawFields *raw)
{
        json_decref(raw->fields);
        json_decref(raw->absent);
        json_decref(raw->lists);
        json_decref(raw->row);
}
