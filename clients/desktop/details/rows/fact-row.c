/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/details/rows/fact-row.h"
#include "clients/desktop/widgets/share-bar.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

#define MARGIN 12
#define INDENT 24
#define COMPACT 5

struct _AldFactRow {
        GtkListBoxRow parent;
        GtkWidget *box, *label, *text, *note, *level;
};

G_DEFINE_FINAL_TYPE(AldFactRow, ald_fact_row, GTK_TYPE_LIST_BOX_ROW)

static void ald_fact_row_class_init(AldFactRowClass *class)
{
}

static void ald_fact_row_init(AldFactRow *row)
{
        row->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
        row->label = ald_wrapping_label_new("caption");
        row->text = ald_wrapping_label_new(NULL);
        row->note = ald_wrapping_label_new("caption");
        gtk_widget_add_css_class(row->label, "dim-label");
        gtk_widget_add_css_class(row->note, "dim-label");
        gtk_widget_set_margin_start(row->box, MARGIN);
        gtk_widget_set_margin_end(row->box, MARGIN);
        gtk_widget_set_margin_top(row->box, 8);
        gtk_widget_set_margin_bottom(row->box, 8);
        gtk_box_append(GTK_BOX(row->box), row->label);
        gtk_box_append(GTK_BOX(row->box), row->text);
        gtk_box_append(GTK_BOX(row->box), row->note);
        gtk_widget_set_visible(row->note, FALSE);
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), row->box);
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
}

GtkWidget *ald_fact_row_new(void)
{
        return g_object_new(ALD_TYPE_FACT_ROW, NULL);
}

void ald_fact_row_show(AldFactRow *row, const char *label, const char *text, AldTone tone, const char *note)
{
        g_autofree char *description = note ? g_strdup_printf("%s, %s", text ?: ALD_ABSENT_TEXT, note)
                                            : g_strdup(text ?: ALD_ABSENT_TEXT);

        ald_label_show(row->label, label);
        ald_label_show(row->text, text ?: ALD_ABSENT_TEXT);
        ald_widget_show_tone(row->text, text ? tone : ALD_TONE_FAINT);
        ald_label_show(row->note, note);
        ald_widget_describe(GTK_WIDGET(row), label, description);
}

void ald_fact_row_show_level(AldFactRow *row, double share, const char *name)
{
        if (isnan(share)) {
                if (row->level)
                        gtk_widget_set_visible(row->level, FALSE);
                return;
        }
        if (!row->level) {
                row->level = ald_share_bar_new();
                gtk_widget_set_margin_top(row->level, 4);
                gtk_box_insert_child_after(GTK_BOX(row->box), row->level, row->text);
        }
        ald_share_bar_set(row->level, share);
        gtk_widget_set_visible(row->level, TRUE);
        ald_widget_describe(row->level, name, NULL);
}

void ald_fact_row_set_compact(AldFactRow *row, gboolean indented)
{
        gtk_box_set_spacing(GTK_BOX(row->box), 0);
        gtk_widget_set_margin_start(row->box, indented ? INDENT : MARGIN);
        gtk_widget_set_margin_top(row->box, COMPACT);
        gtk_widget_set_margin_bottom(row->box, COMPACT);
}

void ald_fact_row_set_prominent(AldFactRow *row)
{
        gtk_widget_add_css_class(row->text, "title-3");
        gtk_widget_add_css_class(row->text, "numeric");
}
