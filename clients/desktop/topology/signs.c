/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/desktop/topology/line-picture.h"
#include "clients/desktop/topology/signs.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

#define SAMPLE_WIDTH 148
#define SAMPLE_HEIGHT 28
#define MARGIN 4.0
#define MOST_HEIGHT 520
#define TEXT_CHARS 34
#define RATE 9410000000u

/* A sample line, with a number on it, or a text alone. */
typedef struct Sign {
        const char *words;
        AldLineKind kind;
        AldEdgeRowPresence presence;
        AldLineTrouble trouble;
        uint64_t rate;
        const char *number; /* NULL if there is none */
        GtkAlign at;
        bool bold, alone;
} Sign;

#define LIVE .presence = ALD_EDGE_ROW_PRESENCE_LIVE, .trouble = ALD_LINE_TROUBLE_NONE, .rate = RATE
#define WITHOUT_FIGURES .trouble = ALD_LINE_TROUBLE_NONE, .rate = ALD_ABSENT_UINT64

static const Sign signs[] = {
        { N_("Near an arrow head: what arrives there per second"), LIVE, .number = "9.41 Gb/s",
                .at = GTK_ALIGN_END },
        { N_("In the middle: half a round trip"), LIVE, .number = "18.2 µs", .at = GTK_ALIGN_CENTER },
        { N_("One stroke: over sockets (IP). The faster, the thicker"), LIVE },
        { N_("Two blue strokes: over RDMA"), LIVE, .kind = ALD_LINE_RDMA },
        { N_("An outline: a cable without IP"), LIVE, .kind = ALD_LINE_CABLE },
        { N_("Dashed: not measured"), WITHOUT_FIGURES, .presence = ALD_EDGE_ROW_PRESENCE_UNMEASURED },
        { N_("Dotted: possible, but not known to work"), WITHOUT_FIGURES,
                .presence = ALD_EDGE_ROW_PRESENCE_CANDIDATE },
        { N_("With a cross: offline"), WITHOUT_FIGURES, .presence = ALD_EDGE_ROW_PRESENCE_OFFLINE },
        { N_("≠: less than half as fast as the other direction"), LIVE, .number = "≠ 2.35 Gb/s",
                .at = GTK_ALIGN_END },
        { N_("~: last known; the node has been silent for a while"), LIVE, .number = "~ 9.41 Gb/s",
                .at = GTK_ALIGN_END },
        { N_("Triangle and bold numbers: Findings has a warning about it, or an error if it is red"),
                .presence = ALD_EDGE_ROW_PRESENCE_LIVE, .trouble = ALD_LINE_TROUBLE_WARNING, .rate = RATE,
                .number = "9.41 Gb/s", .at = GTK_ALIGN_END, .bold = true },
        { N_("On a card: nothing is known. Point at the card to see what is missing"),
                .number = ALD_ABSENT_TEXT, .at = GTK_ALIGN_CENTER, .alone = true },
};

static void draw_sign(GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer userdata)
{
        const Sign *sign = userdata;
        AdwStyleManager *manager = adw_style_manager_get_default();
        const AldPictureStyle style = { adw_style_manager_get_dark(manager),
                adw_style_manager_get_high_contrast(manager), false };
        const AldDrawnLine line = { .kind = sign->kind,
                .presence = sign->presence,
                .trouble = sign->trouble,
                .there = sign->rate,
                .back = sign->rate };
        const AldVector start = { MARGIN, height / 2.0 }, end = { width - MARGIN, height / 2.0 };
        const AldLine route = { start, end, ald_vector_mix(start, end, 0.5), { 1, 0 }, { 1, 0 }, false, 0 };

        ald_line_draw(cairo, &route, &line, ALD_LINE_WEIGHT_USUAL, &style);
}

static GtkWidget *make_number(const Sign *sign)
{
        GtkWidget *number = gtk_label_new(sign->number);

        if (!sign->alone) {
                gtk_widget_add_css_class(number, "edge-label");
                gtk_widget_add_css_class(number, "numeric");
        }
        if (sign->at == GTK_ALIGN_CENTER)
                gtk_widget_add_css_class(number, "middle");
        if (sign->bold)
                gtk_widget_add_css_class(number, "troubled");
        gtk_widget_set_halign(number, sign->at);
        gtk_widget_set_valign(number, GTK_ALIGN_CENTER);
        gtk_widget_set_margin_end(number, sign->at == GTK_ALIGN_END ? 22 : 0);
        /* The words beside it give its meaning. */
        gtk_accessible_update_state(GTK_ACCESSIBLE(number), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
        return number;
}

/* Makes a sample. Its line goes from left to right in every language, as do its numbers. */
static GtkWidget *make_sample(const Sign *sign)
{
        GtkWidget *overlay = gtk_overlay_new();
        GtkWidget *area = g_object_new(
                GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);

        gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(area), SAMPLE_WIDTH);
        gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(area), SAMPLE_HEIGHT);
        if (!sign->alone)
                gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw_sign, (gpointer) sign, NULL);
        gtk_overlay_set_child(GTK_OVERLAY(overlay), area);
        if (sign->number)
                gtk_overlay_add_overlay(GTK_OVERLAY(overlay), make_number(sign));
        gtk_widget_set_valign(overlay, GTK_ALIGN_CENTER);
        return overlay;
}

static GtkWidget *make_row(const Sign *sign)
{
        GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
        GtkWidget *words = ald_wrapping_label_new(NULL);

        gtk_label_set_label(GTK_LABEL(words), _(sign->words));
        gtk_label_set_width_chars(GTK_LABEL(words), 16);
        gtk_label_set_max_width_chars(GTK_LABEL(words), TEXT_CHARS);
        gtk_widget_set_hexpand(words, TRUE);
        gtk_box_append(GTK_BOX(box), make_sample(sign));
        gtk_box_append(GTK_BOX(box), words);
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
        ald_widget_describe(row, _(sign->words), NULL);
        return row;
}

/* Makes the list. Its rows can have the focus, so that a keyboard scrolls them and a screen reader reads them
 * one by one. */
static GtkWidget *make_list(void)
{
        GtkWidget *list = gtk_list_box_new(), *scrolled = gtk_scrolled_window_new();

        gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(list, "signs");
        ald_widget_describe(list, _("What the Signs Mean"), NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
                gtk_list_box_append(GTK_LIST_BOX(list), make_row(&signs[i]));
        gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
        gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scrolled), TRUE);
        gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scrolled), MOST_HEIGHT);
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), list);
        return scrolled;
}

GtkWidget *ald_signs_button_new(void)
{
        GtkWidget *button = gtk_menu_button_new(), *popover = gtk_popover_new();

        gtk_popover_set_child(GTK_POPOVER(popover), make_list());
        gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "alidade-signs-symbolic");
        gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
        gtk_menu_button_set_direction(GTK_MENU_BUTTON(button), GTK_ARROW_UP);
        /* The style applies to the button within it. */
        gtk_widget_add_css_class(gtk_widget_get_first_child(button), "osd");
        gtk_widget_add_css_class(gtk_widget_get_first_child(button), "circular");
        ald_button_name(button, _("What the Signs Mean"));
        return button;
}
