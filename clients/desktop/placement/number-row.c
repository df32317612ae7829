/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "clients/common/quantity.h"
#include "clients/desktop/placement/number-row.h"
#include "record/field.h"

#define NUMBER_KEY "ald-number"

typedef struct Number {
        AldNumberKind kind;
        uint64_t minimum, maximum;
        bool optional;
} Number;

static bool parse_number(const Number *number, const char *text, uint64_t *ret)
{
        guint64 value;

        if (number->kind == ALD_NUMBER_BYTES)
                return ald_size_parse(text, ret) >= 0 && *ret >= number->minimum && *ret <= number->maximum;
        if (!g_ascii_string_to_unsigned(text, 10, number->minimum, number->maximum, &value, NULL))
                return false;
        *ret = value;
        return true;
}

bool ald_number_row_get(GtkWidget *row, uint64_t *ret)
{
        const Number *number = g_object_get_data(G_OBJECT(row), NUMBER_KEY);
        g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(row))));

        if (*text == '\0') {
                *ret = ALD_ABSENT_UINT64;
                return number->optional;
        }
        return parse_number(number, text, ret);
}

/* Marks a wrong entry. An empty one is missing rather than wrong. */
static void on_changed(GtkWidget *row)
{
        uint64_t value;

        if (ald_number_row_get(row, &value) || *gtk_editable_get_text(GTK_EDITABLE(row)) == '\0')
                gtk_widget_remove_css_class(row, "error");
        else
                gtk_widget_add_css_class(row, "error");
}

void ald_number_row_set(GtkWidget *row, uint64_t value)
{
        g_autofree char *text = value == ALD_ABSENT_UINT64 ? g_strdup("")
                                                           : g_strdup_printf("%" PRIu64, value);

        gtk_editable_set_text(GTK_EDITABLE(row), text);
}

GtkWidget *ald_number_row_new(
        const char *title, AldNumberKind kind, uint64_t minimum, uint64_t maximum, bool optional)
{
        GtkWidget *row = adw_entry_row_new();
        Number *number = g_new(Number, 1);

        *number = (Number){ kind, minimum, maximum, optional };
        g_object_set_data_full(G_OBJECT(row), NUMBER_KEY, number, g_free);
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
        adw_entry_row_set_input_purpose(ADW_ENTRY_ROW(row),
                kind == ALD_NUMBER_COUNT ? GTK_INPUT_PURPOSE_DIGITS : GTK_INPUT_PURPOSE_FREE_FORM);
        g_signal_connect(row, "changed", G_CALLBACK(on_changed), NULL);
        return row;
}
