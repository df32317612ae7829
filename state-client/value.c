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

/* Bytes that jansson and the allocator take on a 64-bit machine, beside the bytes of texts. An object starts
 * with a table of 8 places, a list with 8 pointers. */
#define OBJECT_BYTES 288u
#define LIST_BYTES 160u
#define MEMBER_BYTES 112u
#define STRING_BYTES 64u
#define NUMBER_BYTES 32u

size_t ald_value_size(const json_t *value)
{
        const char *name;
        json_t *inner;
        size_t size, i;

        switch (value ? json_typeof(value) : JSON_NULL) {
        case JSON_OBJECT:
                size = OBJECT_BYTES;
                json_object_foreach((json_t *) value, name, inner)
                        size += MEMBER_BYTES + strlen(name) + ald_value_size(inner);
                return size;
        case JSON_ARRAY:
                size = LIST_BYTES;
                json_array_foreach(value, i, inner)
                        size += 2 * sizeof(json_t *) + ald_value_size(inner); /* doubles as it grows */
                return size;
        case JSON_STRING:
                return STRING_BYTES + json_string_length(value);
        case JSON_INTEGER:
        case JSON_REAL:
                return NUMBER_BYTES;
        default:
                return 0; /* jansson has constants for these */
        }
}

/* A message being read, and the bytes that its values may still take. */
typedef struct ValueReader {
        sd_bus_message *message;
        size_t *space;
} ValueReader;

static int take_space(const ValueReader *reader, size_t bytes)
{
        if (bytes > *reader->space)
                return -EDQUOT;
        *reader->space -= bytes;
        return 0;
}

static int read_dict(const ValueReader *reader, unsigned depth, json_t *into, json_t *absent);

static json_t *string_value(const char *text)
{
        size_t length = strlen(text);

        return length > 0 && length <= ALD_VALUE_STRING_MAX ? json_stringn(text, length) : NULL;
}

static int read_basic(const ValueReader *reader, char type, json_t **ret)
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
        int r = sd_bus_message_read_basic(reader->message, type, &value);

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
        r = take_space(reader, ald_value_size(*ret));
        if (r < 0)
                g_clear_pointer(ret, json_decref);
        return r;
}

static int append_string(const ValueReader *reader, const char *text, json_t *list)
{
        json_t *value = json_array_size(list) < ALD_VALUE_ROWS_MAX ? string_value(text) : NULL;
        int r = take_space(reader, value ? ald_value_size(value) + 2 * sizeof(json_t *) : 0);

        if (value && r >= 0)
                json_array_append(list, value);
        json_decref(value);
        return r;
}

static int read_strings(const ValueReader *reader, json_t **ret)
{
        json_t *list = json_array();
        const char *text;
        int r = take_space(reader, LIST_BYTES);

        if (r >= 0)
                r = sd_bus_message_enter_container(reader->message, SD_BUS_TYPE_ARRAY, "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(reader->message, SD_BUS_TYPE_STRING, &text)) > 0)
                r = append_string(reader, text, list);
        if (r >= 0)
                r = sd_bus_message_exit_container(reader->message);
        if (r >= 0 && json_array_size(list) > 0)
                *ret = list;
        else
                json_decref(list);
        return r;
}

static int read_rows(const ValueReader *reader, unsigned depth, size_t max, json_t *into);

static int read_rows_value(const ValueReader *reader, json_t **ret)
{
        json_t *rows = json_array();
        int r = take_space(reader, LIST_BYTES);

        if (r >= 0)
                r = read_rows(reader, 0, ALD_VALUE_ROWS_MAX, rows);
        if (r < 0)
                json_decref(rows);
        else
                *ret = rows;
        return r;
}

static int read_dict_value(const ValueReader *reader, unsigned depth, json_t **ret)
{
        json_t *fields = json_object();
        int r = take_space(reader, OBJECT_BYTES);

        if (r >= 0)
                r = read_dict(reader, depth, fields, NULL);
        if (r < 0)
                json_decref(fields);
        else
                *ret = fields;
        return r;
}

/* Reads the content of a variant; skips rows and dictionaries that are nested too deeply. */
static int read_content(const ValueReader *reader, const char *signature, unsigned depth, json_t **ret)
{
        if (strlen(signature) == 1 && strchr("stxduib", signature[0]))
                return read_basic(reader, signature[0], ret);
        if (strcmp(signature, "as") == 0)
                return read_strings(reader, ret);
        if (depth > 0 && strcmp(signature, "aa{sv}") == 0)
                return read_rows_value(reader, ret);
        if (depth == DEPTH_MAX && strcmp(signature, "a{sv}") == 0)
                return read_dict_value(reader, depth - 1, ret);
        return sd_bus_message_skip(reader->message, signature);
}

/* Reads a variant. The value is NULL if it is absent or of a type that is skipped. */
static int read_variant(const ValueReader *reader, unsigned depth, json_t **ret)
{
        sd_bus_message *m = reader->message;
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
                r = read_content(reader, signature, depth, &value);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                *ret = value;
        else
                json_decref(value);
        return r;
}

static int read_named_value(
        const ValueReader *reader, const char *name, unsigned depth, json_t *into, json_t *absent)
{
        json_t *value = NULL;
        int r = read_variant(reader, depth, &value);

        if (r < 0)
                return r;
        if (!ald_value_is_name(name) || json_object_size(into) >= ALD_VALUE_FIELDS_MAX) {
                json_decref(value);
                return r;
        }
        r = take_space(reader, value ? MEMBER_BYTES + strlen(name) : 0);
        if (value && r >= 0)
                json_object_set(into, name, value);
        else if (!value && absent && json_array_size(absent) < ALD_VALUE_FIELDS_MAX)
                json_array_append_new(absent, json_string(name));
        json_decref(value);
        return r;
}

static int read_dict(const ValueReader *reader, unsigned depth, json_t *into, json_t *absent)
{
        sd_bus_message *m = reader->message;
        int r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sv}");

        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
                const char *name;

                r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &name);
                if (r >= 0)
                        r = read_named_value(reader, name, depth, into, absent);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_value_read_dict_within(sd_bus_message *m, size_t *space, json_t *into, json_t *absent)
{
        return read_dict(&(ValueReader){ m, space }, DEPTH_MAX, into, absent);
}

int ald_value_read_dict(sd_bus_message *m, json_t *into, json_t *absent)
{
        size_t space = ALD_VALUE_SPACE;

        return ald_value_read_dict_within(m, &space, into, absent);
}

int ald_value_read_field_within(
        sd_bus_message *m, size_t *space, const char *name, bool in_row, json_t *into, json_t *absent)
{
        return read_named_value(&(ValueReader){ m, space }, name, in_row ? 0 : DEPTH_MAX, into, absent);
}

static int read_rows(const ValueReader *reader, unsigned depth, size_t max, json_t *into)
{
        sd_bus_message *m = reader->message;
        int r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "a{sv}");

        while (r >= 0 && (r = sd_bus_message_at_end(m, false)) == 0) {
                json_t *row = json_object();

                r = json_array_size(into) < max ? take_space(reader, OBJECT_BYTES + 2 * sizeof(json_t *)) : 0;
                if (r >= 0)
                        r = read_dict(reader, depth, row, NULL);
                if (r >= 0 && json_array_size(into) < max)
                        json_array_append(into, row);
                json_decref(row);
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_value_read_rows_within(sd_bus_message *m, size_t *space, json_t *into)
{
        return read_rows(&(ValueReader){ m, space }, 0, ALD_VALUE_ROWS_MAX, into);
}

int ald_value_read_rows(sd_bus_message *m, json_t *into)
{
        size_t space = ALD_VALUE_SPACE;

        return ald_value_read_rows_within(m, &space, into);
}

int ald_value_read_list(sd_bus_message *m, size_t max, json_t *into)
{
        size_t space = ALD_VALUE_SPACE;

        return read_rows(&(ValueReader){ m, &space }, DEPTH_MAX, max, into);
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
