/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/details/rows/figure-row.h"
#include "clients/desktop/details/rows/figure-cells.h"
#include "clients/desktop/widgets/widget-words.h"

#define SHORT_STATE 22 /* characters that fit beside the title */
#define LABEL_CHARS 20 /* width of a label above a figure, in characters */

typedef struct FigureCell {
        GtkWidget *box, *label, *text;
} FigureCell;

struct _AldFigureRow {
        GtkListBoxRow parent;
        GtkWidget *title, *badge, *badge_icon, *badge_text, *detail, *cells, *age, *state, *remedy;
        FigureCell cell[ALD_FIGURES_MAX];
};

G_DEFINE_FINAL_TYPE(AldFigureRow, ald_figure_row, GTK_TYPE_LIST_BOX_ROW)

static void ald_figure_row_class_init(AldFigureRowClass *class)
{
}

static GtkWidget *make_head(AldFigureRow *row)
{
        GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

        row->title = ald_wrapping_label_new(NULL);
        row->badge = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
        row->badge_icon = ald_decoration_new();
        row->badge_text = gtk_label_new(NULL);
        gtk_widget_set_hexpand(row->title, TRUE);
        gtk_widget_set_valign(row->badge, GTK_ALIGN_START);
        gtk_widget_add_css_class(row->badge_text, "caption");
        gtk_box_append(GTK_BOX(row->badge), row->badge_icon);
        gtk_box_append(GTK_BOX(row->badge), row->badge_text);
        gtk_box_append(GTK_BOX(head), row->title);
        gtk_box_append(GTK_BOX(head), row->badge);
        return head;
}

static void make_cell(AldFigureRow *row, FigureCell *cell)
{
        cell->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
        cell->label = ald_wrapping_label_new("caption");
        cell->text = gtk_label_new(NULL);
        gtk_label_set_max_width_chars(GTK_LABEL(cell->label), LABEL_CHARS);
        gtk_label_set_xalign(GTK_LABEL(cell->text), 0);
        /* Adjacent figures are aligned, however many lines their labels take. */
        gtk_widget_set_vexpand(cell->label, TRUE);
        gtk_widget_set_valign(cell->label, GTK_ALIGN_START);
        gtk_widget_add_css_class(cell->label, "dim-label");
        gtk_widget_add_css_class(cell->text, "numeric");
        gtk_box_append(GTK_BOX(cell->box), cell->label);
        gtk_box_append(GTK_BOX(cell->box), cell->text);
        gtk_box_append(GTK_BOX(row->cells), cell->box);
}

static GtkWidget *add_line(GtkWidget *box, const char *style_class)
{
        GtkWidget *label = ald_wrapping_label_new("caption");

        if (style_class)
                gtk_widget_add_css_class(label, style_class);
        gtk_widget_set_visible(label, FALSE);
        gtk_box_append(GTK_BOX(box), label);
        return label;
}

static void ald_figure_row_init(AldFigureRow *row)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);

        gtk_widget_set_margin_start(box, 12);
        gtk_widget_set_margin_end(box, 12);
        gtk_widget_set_margin_top(box, 10);
        gtk_widget_set_margin_bottom(box, 10);
        gtk_box_append(GTK_BOX(box), make_head(row));
        row->detail = add_line(box, "dim-label");
        row->cells = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
        gtk_widget_set_vexpand(row->cells, FALSE); /* even if a child expands */
        gtk_widget_set_layout_manager(row->cells, g_object_new(ALD_TYPE_FIGURE_CELLS, NULL));
        gtk_widget_set_margin_top(row->cells, 4);
        for (guint i = 0; i < ALD_FIGURES_MAX; i++)
                make_cell(row, &row->cell[i]);
        gtk_box_append(GTK_BOX(box), row->cells);
        row->age = add_line(box, "dim-label");
        row->state = add_line(box, NULL);
        row->remedy = add_line(box, "dim-label");
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
}

GtkWidget *ald_figure_row_new(void)
{
        return g_object_new(ALD_TYPE_FIGURE_ROW, NULL);
}

/* Shows a short state beside the title and a longer one in a line of its own, but its symbol always beside
 * the title. */
static void show_state(AldFigureRow *row, const AldFigureSet *figures)
{
        const char *icon = figures->state ? ald_tone_icon(figures->tone) : NULL;
        bool brief = figures->state && g_utf8_strlen(figures->state, -1) <= SHORT_STATE;

        gtk_widget_set_visible(row->badge, brief || icon);
        gtk_widget_set_visible(row->badge_icon, icon != NULL);
        if (icon)
                ald_decoration_show(row->badge_icon, icon);
        ald_label_show(row->badge_text, brief ? figures->state : NULL);
        ald_label_show(row->state, brief ? NULL : figures->state);
        ald_widget_show_tone(row->badge, figures->tone);
        ald_widget_show_tone(row->state, figures->tone);
}

static void show_cells(AldFigureRow *row, const AldFigureSet *figures)
{
        for (guint i = 0; i < ALD_FIGURES_MAX; i++) {
                const AldFigure *figure = &figures->figures[i];

                gtk_widget_set_visible(row->cell[i].box, i < figures->n);
                if (i >= figures->n)
                        continue;
                ald_label_show(row->cell[i].label, figure->label);
                ald_label_show(row->cell[i].text, figure->text);
                if (g_strcmp0(gtk_widget_get_tooltip_text(row->cell[i].box), figure->more) != 0)
                        gtk_widget_set_tooltip_text(row->cell[i].box, figure->more);
        }
        gtk_widget_set_visible(row->cells, figures->n > 0);
        ald_widget_dim(row->cells, figures->outdated);
}

static void add_spoken(GString *text, const char *part)
{
        if (part && part[0])
                g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", part);
}

/* Leaves out the age, which changes all the time. */
static void describe_row(AldFigureRow *row, const AldFigureSet *figures)
{
        g_autoptr(GString) name = g_string_new(figures->title), text = g_string_new(NULL);

        add_spoken(name, figures->detail);
        for (guint i = 0; i < figures->n; i++) {
                const AldFigure *figure = &figures->figures[i];

                g_string_append_printf(
                        text, "%s%s %s", text->len > 0 ? ", " : "", figure->label, figure->text);
                add_spoken(text, figure->more);
        }
        add_spoken(text, figures->state);
        add_spoken(text, figures->remedy);
        ald_widget_describe(GTK_WIDGET(row), name->str, text->str);
}

void ald_figure_row_show(AldFigureRow *row, const AldFigureSet *figures)
{
        ald_label_show(row->title, figures->title);
        ald_label_show(row->detail, figures->detail);
        show_cells(row, figures);
        ald_label_show(row->age, figures->age);
        show_state(row, figures);
        ald_label_show(row->remedy, figures->remedy);
        describe_row(row, figures);
}
