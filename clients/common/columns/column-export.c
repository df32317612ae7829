/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/columns/column-export.h"
#include "record/field.h"
#include "record/figure-text.h"

static const void *row_at(const GArray *rows, guint i)
{
        return rows->data + i * g_array_get_element_size((GArray *) rows);
}

static bool has_number(const AldListColumn *column)
{
        return column->is_number && column->number && !column->plain;
}

/* Returns NULL if the text is absent. */
static char *find_text(const AldListColumn *column, const void *row)
{
        g_autofree char *text = column->plain ? column->plain(row) : ald_list_column_text(column, row);

        return text && strcmp(text, ALD_ABSENT_TEXT) != 0 ? g_steal_pointer(&text) : NULL;
}

/* Stands for a time that is known never to come. */
static const char infinity[] = "infinity";

static bool is_endless(const AldListColumn *column, double value)
{
        return isinf(value) && ald_unit_of_name(column->key) == &ald_unit_microseconds_since_1970;
}

/* Numbers of a given unit are either always integers or never, as in records. */
static json_t *number_to_json(const AldListColumn *column, double value)
{
        const AldUnit *unit = ald_unit_of_name(column->key);
        double whole = unit ? round(value) : value;

        if (is_endless(column, value))
                return json_string(infinity);
        if (!isfinite(value))
                return NULL;
        return (unit && unit->is_real) || whole != floor(whole) || fabs(whole) > (double) ALD_INTEGER_MAX
                       ? json_real(value)
                       : json_integer((json_int_t) whole);
}

static json_t *row_to_json(const AldColumnChoice *choice, const void *row)
{
        json_t *object = json_object();

        for (guint i = 0; i < choice->shown->len; i++) {
                const AldListColumn *column = g_array_index(choice->shown, const AldListColumn *, i);
                g_autofree char *text = has_number(column) ? NULL : find_text(column, row);
                json_t *value = has_number(column) ? number_to_json(column, column->number(row))
                                : text             ? json_string(text)
                                                   : NULL;

                if (value)
                        json_object_set_new(object, column->key, value);
        }
        return object;
}

json_t *ald_columns_to_json(const AldColumnChoice *choice, const GArray *rows)
{
        json_t *array = json_array();

        for (guint i = 0; i < rows->len; i++)
                json_array_append_new(array, row_to_json(choice, row_at(rows, i)));
        return array;
}

/* A spreadsheet computes a text that begins like this, but shows it unchanged after an apostrophe. */
static bool is_formula(const char *text)
{
        return text[0] && strchr("=+-@\t\r", text[0]);
}

void ald_csv_append_text(GString *out, const char *text)
{
        const char *mark = is_formula(text) ? "'" : "";

        if (!strpbrk(text, ",\"\r\n")) {
                g_string_append_printf(out, "%s%s", mark, text);
                return;
        }
        g_string_append_printf(out, "\"%s", mark);
        for (const char *at = text; *at; at++) {
                if (*at == '"')
                        g_string_append_c(out, '"');
                g_string_append_c(out, *at);
        }
        g_string_append_c(out, '"');
}

void ald_csv_append_number(GString *out, double value)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        bool is_exact = value == floor(value) && fabs(value) <= (double) ALD_INTEGER_MAX;

        /* A time in µs has 16 digits, but only 15 digits of a fraction are exact. */
        if (isfinite(value))
                g_string_append(out, g_ascii_formatd(text, sizeof(text), is_exact ? "%.0f" : "%.15g", value));
}

static void append_row(GString *out, const AldColumnChoice *choice, const void *row)
{
        for (guint i = 0; i < choice->shown->len; i++) {
                const AldListColumn *column = g_array_index(choice->shown, const AldListColumn *, i);
                g_autofree char *text = has_number(column) ? NULL : find_text(column, row);

                if (i > 0)
                        g_string_append_c(out, ',');
                if (has_number(column) && is_endless(column, column->number(row)))
                        g_string_append(out, infinity);
                else if (has_number(column))
                        ald_csv_append_number(out, column->number(row));
                else if (text)
                        ald_csv_append_text(out, text);
        }
        g_string_append(out, "\r\n");
}

void ald_columns_append_csv(GString *out, const AldColumnChoice *choice, const GArray *rows)
{
        for (guint i = 0; i < choice->shown->len; i++)
                g_string_append_printf(out, "%s%s", i > 0 ? "," : "",
                        g_array_index(choice->shown, const AldListColumn *, i)->key);
        g_string_append(out, "\r\n");
        for (guint i = 0; i < rows->len; i++)
                append_row(out, choice, row_at(rows, i));
}
