/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>

#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"

static char *absent(void)
{
        return g_strdup(ALD_ABSENT_TEXT);
}

char *ald_format_bytes_of(double part, double whole)
{
        return ald_format_figure_of(&ald_unit_bytes, part, whole);
}

char *ald_format_count(double count)
{
        return isfinite(count) && count >= 0 ? g_strdup_printf("%.0f", count) : absent();
}

/* Shows a point in time by its distance from now. */
static char *format_number(const char *name, const AldUnit *unit, double value, double now_usec)
{
        if (unit == &ald_unit_microseconds && g_str_has_suffix(name, "OffsetUSec"))
                return ald_format_offset(value);
        if (unit != &ald_unit_microseconds_since_1970)
                return ald_format_figure(unit, value);
        return g_str_has_suffix(name, "ExpiryUSec") ? ald_format_expiry(value, now_usec)
                                                    : ald_format_age(value, now_usec);
}

static char *format_boolean(bool value)
{
        return g_strdup(value ? _("yes") : _("no"));
}

/* Unlike an absent field, an empty list is known to be empty. */
static char *format_rows(size_t n)
{
        return n == 0 ? g_strdup(_("none")) : g_strdup_printf("%zu", n);
}

/* Appends an item to a list with commas. */
static void append_item(GString *out, const char *item)
{
        g_autofree char *safe = ald_text_safe(item);

        g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", safe);
}

char *ald_format_list(const char *const *list)
{
        GString *out = g_string_new(NULL);

        for (; list && *list; list++)
                append_item(out, *list);
        if (out->len == 0)
                g_string_append(out, ALD_ABSENT_TEXT);
        return g_string_free(out, FALSE);
}

char *ald_format_field(const AldField *field, const void *value, double now_usec)
{
        if (ald_field_is_absent(field, value))
                return absent();
        switch (field->type) {
        case ALD_TYPE_STRING:
                return ald_text_safe(*(const char *const *) value);
        case ALD_TYPE_UINT64:
                return format_number(field->name, field->unit, (double) *(const uint64_t *) value, now_usec);
        case ALD_TYPE_INT64:
                return format_number(field->name, field->unit, (double) *(const int64_t *) value, now_usec);
        case ALD_TYPE_DOUBLE:
                return format_number(field->name, field->unit, *(const double *) value, now_usec);
        case ALD_TYPE_BOOLEAN:
                return format_boolean(*(const int *) value);
        case ALD_TYPE_STRV:
                return ald_format_list(*(const char *const *const *) value);
        case ALD_TYPE_ROWS:
                return format_rows(((const AldRows *) value)->n);
        }
        g_assert_not_reached();
}

static char *format_array(const json_t *array)
{
        g_autoptr(GString) out = g_string_new(NULL);
        size_t i;
        json_t *item;

        json_array_foreach(array, i, item) {
                if (!json_is_string(item))
                        return format_rows(json_array_size(array));
                append_item(out, json_string_value(item));
        }
        return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : format_rows(0);
}

char *ald_format_raw(const char *name, const json_t *value, double now_usec)
{
        switch (value ? json_typeof(value) : JSON_NULL) {
        case JSON_STRING:
                return ald_text_safe(json_string_value(value));
        case JSON_INTEGER:
        case JSON_REAL:
                return format_number(name, ald_unit_of_name(name), json_number_value(value), now_usec);
        case JSON_TRUE:
        case JSON_FALSE:
                return format_boolean(json_is_true(value));
        case JSON_ARRAY:
                return format_array(value);
        default:
                return absent();
        }
}
