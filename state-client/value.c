/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "state-client/value.h"

/* A dictionary may contain dictionaries, and these may contain rows. */
#define DEPTH_MAX 2u

bool ald_value_is_name(const char *name)
{
        size_t n = 0;

        if (!g_ascii_isalpha(name[0]))
                return false;
        for (; name[n]; n++)
                if (n >= ALD_VALUE_NAME_MAX || !g_ascii_isalnum(name[n]))
                        return false;
        return true;
}

static int read_dict(sd_bus_message *m, unsigned depth, json_t *into, json_t *absent);

static json_t *string_value(const char *text)
{
        size_t length = strlen(text);

        return length > 0 && length <= ALD_VALUE_STRING_MAX ? json_stringn(text, length) : NULL;
}

static int read_basic(sd_bus_message *m, char type, json_t **ret)
{
        union {
                const char *s;
                uint64_t t;
                int64_t x;
                uint32_t u;
                int32_t i;
                double d;
                int b;
        } value;
        int r = sd_bus_message_read_basic(m, type, &value);

        if (r < 0)
                return r;
        switch (type) {
        case SD_BUS_TYPE_STRING:
                *ret = string_value(value.s);
                break;
        case SD_BUS_TYPE_UINT64:
                *ret = value.t <= INT64_MAX ? json_integer((json_int_t) value.t) : NULL;
                break;
        case SD_BUS_TYPE_INT64:
                *ret = value.x != INT64_MIN ? json_integer(value.x) : NULL;
                break;
        case SD_BUS_TYPE_UINT32:
                *ret = json_integer(value.u);
                break;
        case SD_BUS_TYPE_INT32:
                *ret = json_integer(value.i);
                break;
        case SD_BUS_TYPE_DOUBLE:
                *ret = isfinite(value.d) ? json_real(value.d) : NULL;
                break;
        default:
                *ret = json_boolean(value.b);
        }
        return 0;
}

static int read_strings(sd_bus_message *m, json_t **ret)
{
        json_t *list = json_array();
        const char *text;
        int r;

        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &text)) > 0)
                if (json_array_size(list) < ALD_VALUE_ROWS_MAX)
                        json_array_append_new(list, string_value(text));
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0 && json_array_size(list) > 0)
                *ret = list;
        else
                json_decref(list);
        return r;
}

static int read_rows_value(sd_bus_message *m, json_t **ret)
{
        json_t *rows = json_array();
        int r = ald_value_read_rows(m, rows);

        if (r < 0)
                json_decref(rows);
        else
                *ret = rows;
        return r;
}

static int read_dict_value(sd_bus_message *m, unsigned depth, json_t **ret)
{
        json_t *fields = json_object();
        int r = read_dict(m, depth, fields, NULL);

        if (r < 0)
                json_decref(fields);
        else
                *ret = fields;
        return r;
}

/* Reads the content of a variant; skips rows and dictionaries that are nested too deeply. */
static int read_content(sd_bus_message *m, const char *signature, unsigned depth, json_t **ret)
{
        if (strlen(signature) == 1 && strchr("stxduib", signature[0]))
                return read_basic(m, signature[0], ret);
        if (strcmp(signature, "as") == 0)
                return read_strings(m, ret);
        if (depth > 0 && strcmp(signature, "aa{sv}") == 0)
                return read_rows_value(m, ret);
        if (depth == DEPTH_MAX && strcmp(signature, "a{sv}") == 0)
                return read_dict_value(m, depth - 1, ret);
        return sd_bus_message_skip(m, signature);
}

/* The value may be NULL: absent, or of a type that is skipped. */
static int read_variant(sd_bus_message *m, unsigned depth, json_t **ret)
{
        const char *signature;
        json_t *value = NULL;
        char type;
        int r;

        r = sd_bus_message_peek_type(m, &type, &signature);
        if (r < 0)
                return r;
        if (r == 0 || type != SD_BUS_TYPE_VARIANT)
                return -EBADMSG;
        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_VARIANT, signature);
        if (r >= 0)
                r = read_content(m, signature, depth, &value);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                *ret = value;
        else
                json_decref(value);
        return r;
}

static int read_named(sd_bus_message *m, const char *name, unsigned depth, json_t *into, json_t *absent)
{
        json_t *value = NULL;
        int r = read_variant(m, depth, &value);

        if (r < 0)
                return r;
        if (!ald_value_is_name(name) || json_object_size(into) >= ALD_VALUE_FIELDS_MAX) {
                json_decref(value);
                return r;
        }
        if (value)
                json_object_set_new(into, name, value);
        else if (absent && json_array_size(absent) < ALD_VALUE_FIELDS_MAX)
                json_array_append_new(absent, json_string(name));
        return r;
}

static int read_entry(sd_bus_message *m, unsigned depth, json_t *into, json_t *absent)
{
        const char *name;
        int r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &name);

        return r < 0 ? r : read_named(m, name, depth, into, absent);
}

static int read_dict(sd_bus_message *m, unsigned depth, json_t *into, json_t *absent)
{
        int r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sv}");

        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
                r = read_entry(m, depth, into, absent);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_value_read_dict(sd_bus_message *m, json_t *into, json_t *absent)
{
        return read_dict(m, DEPTH_MAX, into, absent);
}

int ald_value_read_field(sd_bus_message *m, const char *name, bool in_row, json_t *into, json_t *absent)
{
        return read_named(m, name, in_row ? 0 : DEPTH_MAX, into, absent);
}

static int read_rows(sd_bus_message *m, unsigned depth, size_t max, json_t *into)
{
        int r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "a{sv}");

        while (r >= 0 && (r = sd_bus_message_at_end(m, false)) == 0) {
                json_t *row = json_object();

                r = read_dict(m, depth, row, NULL);
                if (r >= 0 && json_array_size(into) < max)
                        json_array_append(into, row);
                json_decref(row);
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_value_read_rows(sd_bus_message *m, json_t *into)
{
        return read_rows(m, 0, ALD_VALUE_ROWS_MAX, into);
}

int ald_value_read_list(sd_bus_message *m, size_t max, json_t *into)
{
        return read_rows(m, DEPTH_MAX, max, into);
}

void ald_value_to_struct(const json_t *fields, const AldStruct *type, void *ret)
{
        memcpy(ret, type->absent, type->size);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const json_t *value = json_object_get(fields, field->name);
                void *to = (char *) ret + field->offset;

                if (field->type == ALD_TYPE_STRING && json_is_string(value))
                        *(const char **) to = json_string_value(value);
                else if (field->type == ALD_TYPE_DOUBLE && json_is_number(value))
                        *(double *) to = json_number_value(value);
                else if (field->type == ALD_TYPE_UINT64 && json_is_integer(value) &&
                         json_integer_value(value) >= 0)
                        *(uint64_t *) to = (uint64_t) json_integer_value(value);
        }
}
