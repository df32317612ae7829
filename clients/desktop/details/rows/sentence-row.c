/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/details/rows/sentence-row.h"
#include "clients/desktop/widgets/widget-words.h"

struct _AldSentenceRow {
        GtkListBoxRow parent;
        GtkWidget *icon, *sentence, *remedy;
};

G_DEFINE_FINAL_TYPE(AldSentenceRow, ald_sentence_row, GTK_TYPE_LIST_BOX_ROW)

static void ald_sentence_row_class_init(AldSentenceRowClass *class)
{
}

static void ald_sentence_row_init(AldSentenceRow *row)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
        GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);

        row->icon = ald_decoration_new();
        row->sentence = ald_wrapping_label_new(NULL);
        row->remedy = ald_wrapping_label_new("caption");
        gtk_widget_add_css_class(row->remedy, "dim-label");
        gtk_widget_set_valign(row->icon, GTK_ALIGN_START);
        gtk_widget_set_margin_start(box, 12);
        gtk_widget_set_margin_end(box, 12);
        gtk_widget_set_margin_top(box, 10);
        gtk_widget_set_margin_bottom(box, 10);
        gtk_widget_set_hexpand(texts, TRUE);
        gtk_box_append(GTK_BOX(texts), row->sentence);
        gtk_box_append(GTK_BOX(texts), row->remedy);
        gtk_box_append(GTK_BOX(box), row->icon);
        gtk_box_append(GTK_BOX(box), texts);
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
}

GtkWidget *ald_sentence_row_new(void)
{
        return g_object_new(ALD_TYPE_SENTENCE_ROW, NULL);
}

void ald_sentence_row_show(AldSentenceRow *row, const char *icon, const char *word, AldTone tone,
        const char *sentence, const char *remedy)
{
        g_autofree char *name = g_strdup_printf("%s: %s", word, sentence);

        ald_decoration_show(row->icon, icon);
        ald_widget_show_tone(row->icon, tone);
        ald_label_show(row->sentence, sentence);
        ald_label_show(row->remedy, remedy);
        ald_widget_describe(GTK_WIDGET(row), name, remedy);
}
