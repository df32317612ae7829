/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/desktop/topology/memory-bar.h"
#include "clients/desktop/topology/node-card.h"
#include "clients/desktop/widgets/presence-symbol.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

struct _AldNodeCard {
        GtkButton parent;
        AldNodeItem *item;
        gulong changed;
        GtkImage *icon, *presence_icon;
        GtkLabel *name, *seen, *memory, *performance, *load, *badge, *plan;
        AldMemoryBar *bar;
        char *planned; /* the node's part in the plan that is shown, in words; NULL: none */
        char *words;   /* everything that the card shows, and which figures are missing */
        bool compact;
};

G_DEFINE_FINAL_TYPE(AldNodeCard, ald_node_card, GTK_TYPE_BUTTON)

/* Joins the parts by dots. Absent parts are omitted; if all are absent, the result is one dash. */
static char *join_parts(const char *const *parts, size_t n)
{
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < n; i++)
                if (strcmp(parts[i], ALD_ABSENT_TEXT) != 0)
                        g_string_append_printf(text, "%s%s", text->len > 0 ? " · " : "", parts[i]);
        if (text->len == 0)
                g_string_append(text, ALD_ABSENT_TEXT);
        return g_string_free(text, FALSE);
}

static void update_presence_icon(AldNodeCard *card)
{
        AldPresenceSymbol symbol = ald_presence_symbol(card->item);

        ald_decoration_show(GTK_WIDGET(card->presence_icon), symbol.icon);
        ald_widget_show_tone(GTK_WIDGET(card->presence_icon), symbol.tone);
        gtk_widget_set_visible(GTK_WIDGET(card->presence_icon),
                ald_node_item_presence(card->item) != ALD_ITEM_PRESENCE_ONLINE);
}

static void update_presence(AldNodeCard *card)
{
        AldItemPresence presence = ald_node_item_presence(card->item);
        AldTone tone;
        g_autofree char *seen = ald_node_item_seen(card->item, &tone);
        bool counts = presence <= ALD_ITEM_PRESENCE_STALE;

        ald_label_set(GTK_WIDGET(card->seen), seen);
        gtk_widget_set_visible(GTK_WIDGET(card->seen), presence != ALD_ITEM_PRESENCE_ONLINE);
        update_presence_icon(card);
        if (counts)
                gtk_widget_remove_css_class(GTK_WIDGET(card), "gone");
        else
                gtk_widget_add_css_class(GTK_WIDGET(card), "gone");
        gtk_widget_set_visible(GTK_WIDGET(card->performance), counts);
        gtk_widget_set_visible(
                GTK_WIDGET(card->load), presence == ALD_ITEM_PRESENCE_ONLINE && !card->compact);
        gtk_widget_set_visible(GTK_WIDGET(card->memory), counts && !card->compact);
}

static char *column_text(AldNodeCard *card, AldNodeColumn column)
{
        return ald_list_column_text(&ald_node_columns[column], ald_node_item_row(card->item));
}

static bool is_unknown(AldNodeCard *card, AldNodeColumn column)
{
        return isnan(ald_node_columns[column].number(ald_node_item_row(card->item)));
}

static void update_memory(AldNodeCard *card)
{
        double used = ald_node_columns[ALD_NODE_COLUMN_USED].share(ald_node_item_row(card->item));
        bool counts = ald_node_item_presence(card->item) <= ALD_ITEM_PRESENCE_STALE;
        g_autofree char *memory = column_text(card, ALD_NODE_COLUMN_MEMORY);
        g_autofree char *text = is_unknown(card, ALD_NODE_COLUMN_MEMORY)
                                        ? g_strdup(ALD_ABSENT_TEXT)
                                        : g_strdup_printf(_("%s free"), memory);

        if (!isnan(used))
                ald_memory_bar_set(card->bar, used);
        gtk_widget_set_visible(GTK_WIDGET(card->bar), counts && !isnan(used));
        ald_label_set(GTK_WIDGET(card->memory), text);
}

static void update_load(AldNodeCard *card)
{
        bool has_gpu = ald_node_item_row(card->item)->gpus.n > 0;
        g_autofree char *usage = column_text(card, has_gpu ? ALD_NODE_COLUMN_GPU_LOAD : ALD_NODE_COLUMN_CPU);
        g_autofree char *heat = column_text(card, ALD_NODE_COLUMN_TEMPERATURE);
        g_autofree char *load = g_str_equal(usage, ALD_ABSENT_TEXT) ? g_strdup(usage)
                                : has_gpu                           ? g_strdup_printf(_("GPU %s"), usage)
                                                                    : g_strdup_printf(_("CPU %s"), usage);
        const char *const parts[] = { load, heat };
        g_autofree char *text = join_parts(parts, G_N_ELEMENTS(parts));

        ald_label_set(GTK_WIDGET(card->load), text);
}

static void append_part(GString *text, bool wanted, const char *part)
{
        if (wanted && strcmp(part, ALD_ABSENT_TEXT) != 0)
                g_string_append_printf(text, ", %s", part);
}

/* Names the missing figures of a node that counts, since a lone dash would be read as nothing. */
static void append_missing(GString *text, AldNodeCard *card)
{
        append_part(text, is_unknown(card, ALD_NODE_COLUMN_MEMORY), _("free memory unknown"));
        append_part(text,
                is_unknown(card, ALD_NODE_COLUMN_TFLOPS) && is_unknown(card, ALD_NODE_COLUMN_TFLOPS_FP32),
                _("FP16 compute not measured"));
        append_part(text, is_unknown(card, ALD_NODE_COLUMN_BANDWIDTH), _("memory bandwidth not measured"));
        append_part(text,
                gtk_widget_get_visible(GTK_WIDGET(card->load)) &&
                        strcmp(gtk_label_get_label(card->load), ALD_ABSENT_TEXT) == 0,
                _("load and temperature unknown"));
}

static void update_accessible(AldNodeCard *card)
{
        AldTone tone;
        g_autofree char *seen = ald_node_item_seen(card->item, &tone);
        g_autoptr(GString) label = g_string_new(ald_node_item_name(card->item));
        bool counts = ald_node_item_presence(card->item) <= ALD_ITEM_PRESENCE_STALE;

        append_part(label, true, seen);
        append_part(label, counts, gtk_label_get_label(card->memory));
        append_part(label, counts, gtk_label_get_label(card->performance));
        if (counts)
                append_missing(label, card);
        if (card->planned)
                append_part(label, true, card->planned);
        ald_widget_describe(GTK_WIDGET(card), label->str, NULL);
        g_free(card->words);
        card->words = g_strdup(label->str);
}

static void update_card(AldNodeCard *card)
{
        g_autofree char *tflops = column_text(card, ALD_NODE_COLUMN_TFLOPS);
        g_autofree char *bandwidth = column_text(card, ALD_NODE_COLUMN_BANDWIDTH);
        const char *const parts[] = { tflops, bandwidth };
        /* A node that is gone offers no performance, even if it was measured. */
        g_autofree char *performance = ald_node_item_presence(card->item) <= ALD_ITEM_PRESENCE_STALE
                                               ? join_parts(parts, G_N_ELEMENTS(parts))
                                               : g_strdup(ALD_ABSENT_TEXT);

        ald_label_set(GTK_WIDGET(card->name), ald_node_item_name(card->item));
        if (g_strcmp0(gtk_image_get_icon_name(card->icon), ald_node_item_icon(card->item)) != 0)
                gtk_image_set_from_icon_name(card->icon, ald_node_item_icon(card->item));
        ald_label_set(GTK_WIDGET(card->performance), performance);
        update_memory(card);
        update_load(card);
        update_presence(card);
        update_accessible(card);
}

void ald_node_card_tick(AldNodeCard *card)
{
        if (ald_node_item_presence(card->item) != ALD_ITEM_PRESENCE_ONLINE)
                update_presence(card);
        update_accessible(card);
}

void ald_node_card_set_compact(AldNodeCard *card, bool compact)
{
        if (compact == card->compact)
                return;
        card->compact = compact;
        if (compact)
                gtk_widget_add_css_class(GTK_WIDGET(card), "compact");
        else
                gtk_widget_remove_css_class(GTK_WIDGET(card), "compact");
        update_presence(card);
}

void ald_node_card_set_plan(AldNodeCard *card, const AldNodeMark *mark)
{
        ald_label_show(GTK_WIDGET(card->badge), mark ? mark->numbers : NULL);
        ald_label_show(GTK_WIDGET(card->plan), mark ? mark->layers : NULL);
        g_free(card->planned);
        card->planned = mark ? g_strdup(mark->words) : NULL;
        if (mark)
                gtk_widget_add_css_class(GTK_WIDGET(card), "planned");
        else
                gtk_widget_remove_css_class(GTK_WIDGET(card), "planned");
        update_accessible(card);
}

void ald_node_card_set_selected(AldNodeCard *card, bool selected)
{
        if (selected)
                gtk_widget_add_css_class(GTK_WIDGET(card), "selected");
        else
                gtk_widget_remove_css_class(GTK_WIDGET(card), "selected");
        gtk_accessible_update_state(
                GTK_ACCESSIBLE(card), GTK_ACCESSIBLE_STATE_SELECTED, (gboolean) selected, -1);
}

static void ald_node_card_clicked(GtkButton *button)
{
        AldNodeCard *card = ALD_NODE_CARD(button);

        gtk_widget_activate_action(GTK_WIDGET(button), "win.show-node", "s", ald_node_item_id(card->item));
}

static void ald_node_card_dispose(GObject *object)
{
        AldNodeCard *card = ALD_NODE_CARD(object);

        if (card->item)
                g_clear_signal_handler(&card->changed, card->item);
        g_clear_object(&card->item);
        G_OBJECT_CLASS(ald_node_card_parent_class)->dispose(object);
}

static void ald_node_card_finalize(GObject *object)
{
        g_free(ALD_NODE_CARD(object)->planned);
        g_free(ALD_NODE_CARD(object)->words);
        G_OBJECT_CLASS(ald_node_card_parent_class)->finalize(object);
}

static void ald_node_card_class_init(AldNodeCardClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_node_card_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_node_card_finalize;
        GTK_BUTTON_CLASS(class)->clicked = ald_node_card_clicked;
}

static GtkLabel *make_label(GtkWidget *box, const char *style)
{
        GtkWidget *label = gtk_label_new("");

        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_label_set_single_line_mode(GTK_LABEL(label), TRUE);
        gtk_widget_add_css_class(label, style);
        gtk_box_append(GTK_BOX(box), label);
        return GTK_LABEL(label);
}

static void ald_node_card_init(AldNodeCard *card)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4),
                  *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);

        card->icon = GTK_IMAGE(gtk_image_new());
        card->presence_icon = GTK_IMAGE(gtk_image_new());
        gtk_box_append(GTK_BOX(head), GTK_WIDGET(card->icon));
        card->badge = make_label(head, "plan-badge");
        card->name = make_label(head, "heading");
        gtk_widget_set_hexpand(GTK_WIDGET(card->name), TRUE);
        gtk_box_append(GTK_BOX(head), GTK_WIDGET(card->presence_icon));
        gtk_box_append(GTK_BOX(box), head);
        card->seen = make_label(box, "caption");
        card->bar = ALD_MEMORY_BAR(ald_memory_bar_new());
        gtk_box_append(GTK_BOX(box), GTK_WIDGET(card->bar));
        card->memory = make_label(box, "caption");
        card->performance = make_label(box, "caption");
        card->load = make_label(box, "caption");
        card->plan = make_label(box, "caption");
        gtk_widget_add_css_class(GTK_WIDGET(card->plan), "accent");
        gtk_widget_add_css_class(GTK_WIDGET(card->badge), "numeric");
        gtk_widget_set_visible(GTK_WIDGET(card->badge), FALSE);
        gtk_widget_set_visible(GTK_WIDGET(card->plan), FALSE);
        gtk_widget_add_css_class(GTK_WIDGET(card->memory), "numeric");
        gtk_widget_add_css_class(GTK_WIDGET(card->load), "numeric");
        gtk_widget_add_css_class(GTK_WIDGET(card->load), "dim-label");
        gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
        gtk_button_set_child(GTK_BUTTON(card), box);
        gtk_widget_add_css_class(GTK_WIDGET(card), "card");
        gtk_widget_add_css_class(GTK_WIDGET(card), "node-card");
        gtk_widget_set_overflow(GTK_WIDGET(card), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *ald_node_card_new(AldNodeItem *item)
{
        AldNodeCard *card = g_object_new(ALD_TYPE_NODE_CARD, NULL);

        card->item = g_object_ref(item);
        card->changed = g_signal_connect_swapped(item, "changed", G_CALLBACK(update_card), card);
        update_card(card);
        return GTK_WIDGET(card);
}

AldNodeItem *ald_node_card_item(AldNodeCard *card)
{
        return card->item;
}

const char *ald_node_card_words(AldNodeCard *card)
{
        return card->words;
}
