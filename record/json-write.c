/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "record/json.h"

/* Beyond this an integer number of millionths is not exact in a double. */
#define MILLIONS_MAX 1e9

static void append_integer(GString *text, int64_t number)
{
        char digits[24], *at = digits + sizeof digits;
        uint64_t rest = number < 0 ? -(uint64_t) number : (uint64_t) number;

        do
                *--at = (char) ('0' + rest % 10);
        while ((rest /= 10) > 0);
        if (number < 0)
                *--at = '-';
        g_string_append_len(text, at, digits + sizeof digits - at);
}

/* Appends six digits behind the point, without the zeros at their end. */
static void append_millionths(GString *text, uint32_t millionths)
{
        char digits[7] = { '.' };
        gssize n = sizeof digits;

        for (size_t i = sizeof digits - 1; i > 0; i--, millionths /= 10)
                digits[i] = (char) ('0' + millionths % 10);
        while (digits[n - 1] == '0')
                n--;
        g_string_append_len(text, digits, n);
}

/* Most figures are whole millionths, whose digits are the shortest that read as the same double: the quotient
 * of two exact numbers is rounded as the text of it would be. All others take 17 digits. */
static void append_double(GString *text, double number)
{
        char buffer[G_ASCII_DTOSTR_BUF_SIZE];
        double size = fabs(number), millionths = rint(size * 1e6);
        uint64_t whole;

        if (!(size < MILLIONS_MAX) || millionths / 1e6 != size) {
                g_string_append(text, g_ascii_dtostr(buffer, sizeof buffer, number));
                return;
        }
        whole = (uint64_t) millionths;
        if (number < 0)
                g_string_append_c(text, '-');
        append_integer(text, (int64_t) (whole / 1000000));
        if (whole % 1000000 > 0)
                append_millionths(text, (uint32_t) (whole % 1000000));
}

static void append_escaped(GString *text, char c)
{
        if (c == '"' || c == '\\') {
                g_string_append_c(text, '\\');
                g_string_append_c(text, c);
        } else
                g_string_append_printf(text, "\\u%04x", (unsigned) c);
}

static void append_string(GString *text, const char *string)
{
        g_string_append_c(text, '"');
        for (;;) {
                const char *end = string;

                while (*end != '"' && *end != '\\' && (*end < '\0' || *end >= ' '))
                        end++;
                g_string_append_len(text, string, end - string);
                if (*end == '\0')
                        break;
                append_escaped(text, *end);
                string = end + 1;
        }
        g_string_append_c(text, '"');
}

/* Appends what separates an element from the one before, if there is one. */
static void append_comma(GString *text)
{
        char last = text->str[text->len - 1];

        if (last != '{' && last != '[')
                g_string_append_c(text, ',');
}

/* Appends a key that needs no escapes. */
static void append_key(GString *text, const char *key)
{
        append_comma(text);
        g_string_append_c(text, '"');
        g_string_append(text, key);
        g_string_append_len(text, "\":", 2);
}

static void append_struct(GString *text, const AldStruct *type, const void *base);

static void append_strv(GString *text, const char *const *strv)
{
        g_string_append_c(text, '[');
        for (; *strv; strv++) {
                append_comma(text);
                append_string(text, *strv);
        }
        g_string_append_c(text, ']');
}

static void append_rows(GString *text, const AldRows *rows)
{
        g_string_append_c(text, '[');
        for (size_t i = 0; i < rows->n; i++) {
                append_comma(text);
                append_struct(text, rows->type, ald_rows_at(rows, i));
        }
        g_string_append_c(text, ']');
}

static void append_value(GString *text, const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                append_string(text, *(const char *const *) value);
                return;
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
                append_integer(text, *(const int64_t *) value);
                return;
        case ALD_TYPE_DOUBLE:
                append_double(text, *(const double *) value);
                return;
        case ALD_TYPE_BOOLEAN:
                g_string_append(text, *(const int *) value ? "true" : "false");
                return;
        case ALD_TYPE_STRV:
                append_strv(text, *(const char *const *const *) value);
                return;
        case ALD_TYPE_ROWS:
                append_rows(text, value);
                return;
        }
        g_assert_not_reached();
}

static void append_struct(GString *text, const AldStruct *type, const void *base)
{
        g_string_append_c(text, '{');
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, base);

                if (ald_field_is_absent(field, value))
                        continue;
                append_key(text, field->name);
                append_value(text, field, value);
        }
        g_string_append_c(text, '}');
}

static void append_integer_member(GString *text, const char *key, uint64_t number)
{
        append_key(text, key);
        append_integer(text, (int64_t) number);
}

static void append_names(GString *text, const AldUpdate *update)
{
        char node[ALD_ID_STRING_SIZE];

        append_key(text, "node");
        append_string(text, ald_id_format(&update->node, node));
        append_key(text, "kind");
        append_string(text, ald_kinds[update->kind].name);
        append_key(text, "key");
        append_string(text, update->key);
}

void ald_update_append_text(GString *text, const AldUpdate *update, bool named)
{
        g_string_append_c(text, '{');
        if (named)
                append_names(text, update);
        append_integer_member(text, "epoch", update->stamp.epoch);
        append_integer_member(text, "seq", update->stamp.seq);
        append_integer_member(text, "updated", update->updated_usec);
        if (named && update->record)
                append_integer_member(text, "revision", update->record->revision);
        if (update->record) {
                append_key(text, "fields");
                append_struct(text, ald_record_type(update->record), ald_record_fields(update->record));
        } else {
                append_key(text, "deleted");
                g_string_append(text, "true");
        }
        g_string_append_c(text, '}');
}
