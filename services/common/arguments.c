/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/excerpt.h"
#include "record/id.h"
#include "record/record.h"
#include "services/common/arguments.h"
#include "services/common/errors.h"

/* Entries of a list without a limit of its own. */
#define ENTRIES_MAX 4096u

static int refuse_key(sd_bus_error *error, const char *key, const char *problem)
{
        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s %s", key, problem);
}

static int check_number(const AldField *field, double value, sd_bus_error *error)
{
        if (field->limited_below && !(value >= field->minimum))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s must be %.15g or more",
                        field->name, field->minimum);
        if (field->limited_above && !(value <= field->maximum))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s must be %.15g or less",
                        field->name, field->maximum);
        return 0;
}

static int check_text(const AldField *field, const char *text, sd_bus_error *error)
{
        g_autofree char *excerpt = NULL;
        AldId id;

        if (strlen(text) > ALD_STRING_MAX)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                        "%s: a text has more than %u bytes", field->name, ALD_STRING_MAX);
        if (field->is_id ? ald_id_parse(text, &id) >= 0
                         : !field->from_string || field->from_string(text) >= 0)
                return 0;
        excerpt = ald_excerpt(text);
        if (field->is_id)
                return sd_bus_error_setf(
                        error, SD_BUS_ERROR_INVALID_ARGS, "%s: not a node id: %s", field->name, excerpt);
        return sd_bus_error_setf(
                error, SD_BUS_ERROR_INVALID_ARGS, "%s: unknown word %s", field->name, excerpt);
}

static int read_strings(sd_bus_message *message, const AldField *field, GPtrArray *owned,
        const char *const **ret, sd_bus_error *error)
{
        const unsigned most = field->limited_above ? (unsigned) field->maximum : ENTRIES_MAX;
        g_autoptr(GPtrArray) strings = g_ptr_array_new();
        const char *string;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(message, 's', &string)) > 0) {
                if (strings->len >= most)
                        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                                "%s must have %u entries or less", field->name, most);
                r = check_text(field, string, error);
                if (r < 0)
                        return r;
                g_ptr_array_add(strings, (gpointer) string);
        }
        if (r < 0)
                return r;
        g_ptr_array_add(strings, NULL);
        *ret = (const char *const *) g_ptr_array_steal(strings, NULL);
        g_ptr_array_add(owned, (gpointer) *ret);
        return sd_bus_message_exit_container(message);
}

static int read_numbers(
        sd_bus_message *message, const AldField *field, GPtrArray *owned, AldRows *ret, sd_bus_error *error)
{
        g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(AldNumberEntry));
        AldNumberEntry entry;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{st}");
        while (r >= 0 && (r = sd_bus_message_read(message, "{st}", &entry.name, &entry.value)) > 0) {
                if (entries->len >= ENTRIES_MAX)
                        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                                "%s must have %u entries or less", field->name, ENTRIES_MAX);
                g_array_append_val(entries, entry);
        }
        if (r < 0)
                return r;
        ret->n = entries->len;
        ret->items = g_array_steal(entries, NULL);
        g_ptr_array_add(owned, (gpointer) ret->items);
        return sd_bus_message_exit_container(message);
}

static int read_basic(sd_bus_message *message, const AldField *field, void *to, sd_bus_error *error)
{
        int r = sd_bus_message_read_basic(message, *ald_field_signature(field), to);

        if (r < 0)
                return r;
        switch (field->type) {
        case ALD_TYPE_UINT64:
                return check_number(field, (double) *(const uint64_t *) to, error);
        case ALD_TYPE_INT64:
                return check_number(field, (double) *(const int64_t *) to, error);
        case ALD_TYPE_DOUBLE:
                return check_number(field, *(const double *) to, error);
        case ALD_TYPE_STRING:
                return check_text(field, *(const char *const *) to, error);
        default:
                return 0;
        }
}

static int read_value(
        sd_bus_message *message, const AldField *field, GPtrArray *owned, void *to, sd_bus_error *error)
{
        const char *signature = field->type == ALD_TYPE_ROWS ? "a{st}" : ald_field_signature(field);
        const char *contents;
        int r = sd_bus_message_peek_type(message, NULL, &contents);

        if (r < 0)
                return r;
        if (!g_str_equal(contents, signature))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s must be of type %s, not %s",
                        field->name, signature, contents);
        r = sd_bus_message_enter_container(message, 'v', signature);
        if (r < 0)
                return r;
        if (field->type == ALD_TYPE_STRV)
                r = read_strings(message, field, owned, to, error);
        else if (field->type == ALD_TYPE_ROWS)
                r = read_numbers(message, field, owned, to, error);
        else
                r = read_basic(message, field, to, error);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_entry(sd_bus_message *message, const AldStruct *type, GPtrArray *owned, uint64_t *seen,
        void *ret, sd_bus_error *error)
{
        const AldField *field;
        const char *key;
        uint64_t bit;
        int r = sd_bus_message_read_basic(message, 's', &key);

        if (r < 0)
                return r;
        field = ald_struct_find(type, key);
        if (!field) {
                g_autofree char *excerpt = ald_excerpt(key);

                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Unknown key %s", excerpt);
        }
        bit = UINT64_C(1) << (field - type->fields);
        if (*seen & bit)
                return refuse_key(error, field->name, "is there twice");
        *seen |= bit;
        return read_value(message, field, owned, (char *) ret + field->offset, error);
}

static int read_arguments(
        sd_bus_message *message, const AldStruct *type, GPtrArray *owned, void *ret, sd_bus_error *error)
{
        uint64_t seen = 0;
        int r;

        memcpy(ret, type->absent, type->size);
        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = read_entry(message, type, owned, &seen, ret, error);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        if (r < 0)
                return r;
        for (size_t i = 0; i < type->n_fields; i++)
                if (type->fields[i].required &&
                        ald_field_is_absent(&type->fields[i], (const char *) ret + type->fields[i].offset))
                        return refuse_key(error, type->fields[i].name, "is missing");
        return sd_bus_message_exit_container(message);
}

int ald_arguments_read(
        sd_bus_message *message, const AldStruct *type, GPtrArray *owned, void *ret, sd_bus_error *error)
{
        int r = read_arguments(message, type, owned, ret, error);

        return r < 0 && !sd_bus_error_is_set(error) ? ald_error_unreadable(r, error) : r;
}
