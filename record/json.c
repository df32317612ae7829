/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/json.h"

/* Adds a member and takes the value. This fails only if memory is short, and then half a record must not be
 * written. */
static void set_member(json_t *object, const char *name, json_t *value)
{
        if (json_object_set_new_nocheck(object, name, value) < 0)
                g_error("Out of memory");
}

static void append_element(json_t *array, json_t *value)
{
        if (json_array_append_new(array, value) < 0)
                g_error("Out of memory");
}

static json_t *strv_to_json(const char *const *strv)
{
        json_t *array = json_array();

        for (; *strv; strv++)
                append_element(array, json_string_nocheck(*strv));
        return array;
}

static json_t *rows_to_json(const AldRows *rows)
{
        json_t *array = json_array();

        for (size_t i = 0; i < rows->n; i++)
                append_element(array, ald_struct_to_json(rows->type, ald_rows_at(rows, i)));
        return array;
}

static json_t *value_to_json(const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return json_string_nocheck(*(const char *const *) value);
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
                return json_integer(*(const int64_t *) value);
        case ALD_TYPE_DOUBLE:
                return json_real(*(const double *) value);
        case ALD_TYPE_BOOLEAN:
                return json_boolean(*(const int *) value);
        case ALD_TYPE_STRV:
                return strv_to_json(*(const char *const *const *) value);
        case ALD_TYPE_ROWS:
                return rows_to_json(value);
        }
        g_assert_not_reached();
}

json_t *ald_struct_to_json(const AldStruct *type, const void *base)
{
        json_t *object = json_object();

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, base);

                if (!ald_field_is_absent(field, value))
                        set_member(object, field->name, value_to_json(field, value));
        }
        return object;
}

static bool is_short_string(json_t *json)
{
        return json_is_string(json) && json_string_length(json) <= ALD_STRING_MAX;
}

/* Returns NULL if an element is not a string or is too long; the strings belong to `json`. */
static const char **strv_from_json(json_t *json)
{
        size_t n = json_array_size(json);
        const char **strv = g_new0(const char *, n + 1);

        for (size_t i = 0; i < n; i++) {
                if (!is_short_string(json_array_get(json, i))) {
                        g_free(strv);
                        return NULL;
                }
                strv[i] = json_string_value(json_array_get(json, i));
        }
        return strv;
}

/* Sets a field if the value fits it. Lists are added to `owned`; strings belong to `json`. */
static void value_from_json(const AldField *field, json_t *json, void *to, GPtrArray *owned)
{
        bool in_range = json_is_integer(json) && ABS(json_integer_value(json)) <= ALD_INTEGER_MAX;

        if (field->type == ALD_TYPE_STRING && is_short_string(json))
                *(const char **) to = json_string_value(json);
        else if (field->type == ALD_TYPE_UINT64 && in_range && json_integer_value(json) >= 0)
                *(uint64_t *) to = (uint64_t) json_integer_value(json);
        else if (field->type == ALD_TYPE_INT64 && in_range)
                *(int64_t *) to = json_integer_value(json);
        else if (field->type == ALD_TYPE_DOUBLE && json_is_number(json))
                *(double *) to = json_number_value(json);
        else if (field->type == ALD_TYPE_BOOLEAN && json_is_boolean(json))
                *(int *) to = json_is_true(json);
        else if (field->type == ALD_TYPE_STRV && json_is_array(json)) {
                const char **strv = strv_from_json(json);

                *(const char *const **) to = strv;
                if (strv)
                        g_ptr_array_add(owned, strv);
        }
}

void *ald_struct_from_json(const AldStruct *type, json_t *json)
{
        g_autofree void *fields = g_memdup2(type->absent, type->size);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);

        if (!json_is_object(json))
                return NULL;
        for (size_t i = 0; i < type->n_fields; i++) {
                json_t *value = json_object_get(json, type->fields[i].name);

                if (value)
                        value_from_json(
                                &type->fields[i], value, (char *) fields + type->fields[i].offset, owned);
        }
        return ald_struct_dup(type, fields);
}

json_t *ald_record_to_json(const AldRecord *record)
{
        return ald_struct_to_json(ald_record_type(record), ald_record_fields(record));
}

/* Returns whether the text is nested too deeply; jansson's own limit is compiled in and far too high. Up to
 * the first character that jansson would refuse, this counts the same nesting. */
static bool is_too_deep(const char *bytes, size_t n)
{
        bool in_string = false;
        unsigned depth = 0;

        for (size_t i = 0; i < n; i++) {
                if (in_string && bytes[i] == '\\')
                        i++;
                else if (bytes[i] == '"')
                        in_string = !in_string;
                else if (!in_string && (bytes[i] == '{' || bytes[i] == '['))
                        depth++;
                else if (!in_string && depth > 0 && (bytes[i] == '}' || bytes[i] == ']'))
                        depth--;
                if (depth > ALD_JSON_MAX_DEPTH)
                        return true;
        }
        return false;
}

static int fail_with_reason(int error, char **ret_error, char *reason)
{
        if (ret_error)
                *ret_error = reason;
        else
                g_free(reason);
        return error;
}

int ald_json_load(const char *bytes, size_t n, size_t max_bytes, json_t **ret, char **ret_error)
{
        g_autofree char *reason = NULL;
        json_error_t error;
        json_t *json;

        if (n > max_bytes)
                return fail_with_reason(
                        -E2BIG, ret_error, g_strdup_printf("larger than %zu bytes", max_bytes));
        if (is_too_deep(bytes, n))
                return fail_with_reason(-EBADMSG, ret_error,
                        g_strdup_printf("nested deeper than %u levels", ALD_JSON_MAX_DEPTH));
        json = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &error);
        if (!json) {
                /* jansson's text may quote half a character of its input; for a NUL it names a flag. */
                reason = json_error_code(&error) == json_error_null_character
                                 ? g_strdup("a NUL in a string")
                                 : g_utf8_make_valid(error.text, -1);
                return fail_with_reason(-EBADMSG, ret_error,
                        g_strdup_printf("line %d, column %d: %s", error.line, error.column, reason));
        }
        *ret = json;
        return 0;
}
