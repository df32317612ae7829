/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/node-summary.h"
#include "clients/desktop/tables/finding-card.h"
#include "clients/desktop/widgets/widget-words.h"

#define SPACING 12
#define NAME_CHARS 32
#define NODES_MAX 8 /* number of buttons; a finding may be about all nodes */

struct _AldFindingCard {
        GtkBox parent;
        AldLiveCluster *cluster;
        AldFindingItem *item;
        gulong changed_id;
        GtkWidget *symbol, *severity, *silent, *id, *words, *period, *remedy, *nodes;
        const char *tone;  /* style class */
        char *buttons_key; /* texts from which the buttons were made */
};

G_DEFINE_FINAL_TYPE(AldFindingCard, ald_finding_card, GTK_TYPE_BOX)

char *ald_finding_card_text(AldFindingItem *item)
{
        const char *remedy = ald_finding_item_remedy(item), *period = ald_finding_item_period(item),
                   *names = ald_finding_item_nodes(item)[0]
                                    ? ald_finding_item_text(item, ALD_FINDING_COLUMN_NODES)
                                    : "";

        return g_strdup_printf("%s: %s\n%s%s%s%s%s%s%s\n", ald_finding_item_title(item),
                ald_finding_item_text(item, ALD_FINDING_COLUMN_TEXT), period ?: "", period ? "\n" : "",
                remedy ?: "", remedy ? "\n" : "", ald_finding_item_text(item, ALD_FINDING_COLUMN_ID),
                names[0] ? ": " : "", names);
}

void ald_finding_card_open(GtkWidget *widget, AldFindingItem *item)
{
        const char *const *nodes = ald_finding_item_nodes(item);

        if (!nodes[0])
                return;
        if (!nodes[1])
                gtk_widget_activate_action(widget, "win.show-node", "s", nodes[0]);
        else if (!nodes[2])
                gtk_widget_activate_action(widget, "win.show-pair", "(ss)", nodes[0], nodes[1]);
}

static void on_copy(GtkButton *button, AldFindingCard *card)
{
        g_autofree char *text = card->item ? ald_finding_card_text(card->item) : NULL;

        if (!text)
                return;
        gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(card)), text);
        gtk_widget_activate_action(GTK_WIDGET(card), "win.say", "s", _("Finding copied"));
}

/* Nodes. */

static void add_node(AldFindingCard *card, GtkWidget *widget)
{
        GtkWidget *child = gtk_flow_box_child_new();

        /* The button takes the focus itself. */
        gtk_widget_set_focusable(child, FALSE);
        gtk_flow_box_child_set_child(GTK_FLOW_BOX_CHILD(child), widget);
        gtk_flow_box_insert(GTK_FLOW_BOX(card->nodes), child, -1);
}

static GtkWidget *node_button_new(const char *name, const char *action, GVariant *target)
{
        GtkWidget *label = gtk_label_new(name), *button = gtk_button_new();
        /* Translators: the name of a node, or of two. */
        g_autofree char *description = g_strdup_printf(_("Details of %s"), name);

        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_label_set_max_width_chars(GTK_LABEL(label), NAME_CHARS);
        gtk_widget_add_css_class(label, "caption");
        gtk_button_set_child(GTK_BUTTON(button), label);
        gtk_widget_set_halign(button, GTK_ALIGN_START);
        gtk_widget_set_tooltip_text(button, description);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
        gtk_actionable_set_action_target_value(GTK_ACTIONABLE(button), target);
        gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
        return button;
}

static void add_forget_button(AldFindingCard *card, const char *node)
{
        GtkWidget *button = gtk_button_new_with_mnemonic(_("_Forget…"));

        gtk_widget_add_css_class(gtk_button_get_child(GTK_BUTTON(button)), "caption");
        gtk_widget_set_halign(button, GTK_ALIGN_START);
        gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", node);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.forget");
        add_node(card, button);
}

static bool is_node_offline_finding(AldFindingItem *item)
{
        return g_str_equal(ald_finding_item_text(item, ALD_FINDING_COLUMN_ID),
                ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_NODE_OFFLINE));
}

static void add_buttons(AldFindingCard *card)
{
        AldModel *model = ald_live_cluster_model(card->cluster);
        const char *const *nodes = ald_finding_item_nodes(card->item);
        guint n = g_strv_length((GStrv) nodes);

        if (n == 2) {
                add_node(card, node_button_new(ald_finding_item_text(card->item, ALD_FINDING_COLUMN_NODES),
                                       "win.show-pair", g_variant_new("(ss)", nodes[0], nodes[1])));
                return;
        }
        for (guint i = 0; i < MIN(n, NODES_MAX); i++) {
                g_autofree char *name = ald_node_name(model, nodes[i]);

                add_node(card, node_button_new(name, "win.show-node", g_variant_new_string(nodes[i])));
        }
        if (n == 1 && is_node_offline_finding(card->item) && !ald_finding_item_period(card->item))
                add_forget_button(card, nodes[0]);
        if (n > NODES_MAX) {
                g_autofree char *rest = g_strdup_printf(
                        ngettext("%u more node", "%u more nodes", n - NODES_MAX), n - NODES_MAX);
                GtkWidget *label = gtk_label_new(rest);

                gtk_widget_add_css_class(label, "dim-label");
                add_node(card, label);
        }
}

/* Replaces the buttons only if others are needed, so that one of them keeps the focus. */
static void refresh_nodes(AldFindingCard *card)
{
        const char *const *ids = ald_finding_item_nodes(card->item);
        g_autofree char *joined = g_strjoinv(" ", (GStrv) ids);
        g_autofree char *wanted = g_strconcat(
                joined, "\n", ald_finding_item_text(card->item, ALD_FINDING_COLUMN_NODES), NULL);
        GtkWidget *child;

        if (g_strcmp0(card->buttons_key, wanted) == 0)
                return;
        g_free(card->buttons_key);
        card->buttons_key = g_steal_pointer(&wanted);
        while ((child = gtk_widget_get_first_child(card->nodes)))
                gtk_flow_box_remove(GTK_FLOW_BOX(card->nodes), child);
        add_buttons(card);
        gtk_widget_set_visible(card->nodes, ids[0] != NULL);
}

/* Content. */

static void refresh_severity(AldFindingCard *card)
{
        static const char *const tones[ALD_FINDING_ROW_SEVERITY_N] = {
                [ALD_FINDING_ROW_SEVERITY_ERROR] = "error",
                [ALD_FINDING_ROW_SEVERITY_WARNING] = "warning",
                [ALD_FINDING_ROW_SEVERITY_NOTICE] = "accent",
        };
        const char *title = ald_finding_item_title(card->item);

        if (card->tone) {
                gtk_widget_remove_css_class(card->symbol, card->tone);
                gtk_widget_remove_css_class(card->severity, card->tone);
        }
        card->tone = tones[ald_finding_item_severity(card->item)];
        gtk_widget_add_css_class(card->symbol, card->tone);
        gtk_widget_add_css_class(card->severity, card->tone);
        gtk_image_set_from_icon_name(GTK_IMAGE(card->symbol), ald_finding_item_icon(card->item));
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(card->symbol), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
        ald_label_show(card->severity, title);
}

static void refresh_card(AldFindingCard *card)
{
        refresh_severity(card);
        ald_label_show(card->silent, ald_finding_item_is_silent(card->item) ? _("Silenced") : NULL);
        ald_label_show(card->id, ald_finding_item_text(card->item, ALD_FINDING_COLUMN_ID));
        ald_label_show(card->words, ald_finding_item_text(card->item, ALD_FINDING_COLUMN_TEXT));
        ald_label_show(card->period, ald_finding_item_period(card->item));
        ald_label_show(card->remedy, ald_finding_item_remedy(card->item));
        refresh_nodes(card);
}

void ald_finding_card_set_item(AldFindingCard *card, AldFindingItem *item)
{
        if (card->item)
                g_clear_signal_handler(&card->changed_id, card->item);
        g_set_object(&card->item, item);
        if (!item)
                return;
        card->changed_id = g_signal_connect_swapped(item, "changed", G_CALLBACK(refresh_card), card);
        refresh_card(card);
}

AldFindingItem *ald_finding_card_item(AldFindingCard *card)
{
        return card->item;
}

/* The widget. */

static void ald_finding_card_dispose(GObject *object)
{
        ald_finding_card_set_item(ALD_FINDING_CARD(object), NULL);
        g_clear_object(&ALD_FINDING_CARD(object)->cluster);
        G_OBJECT_CLASS(ald_finding_card_parent_class)->dispose(object);
}

static void ald_finding_card_finalize(GObject *object)
{
        g_free(ALD_FINDING_CARD(object)->buttons_key);
        G_OBJECT_CLASS(ald_finding_card_parent_class)->finalize(object);
}

static void ald_finding_card_class_init(AldFindingCardClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_finding_card_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_finding_card_finalize;
}

static GtkWidget *paragraph_new(const char *class)
{
        GtkWidget *label = gtk_label_new(NULL);

        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        if (class)
                gtk_widget_add_css_class(label, class);
        return label;
}

static GtkWidget *head_new(AldFindingCard *card)
{
        GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, SPACING / 2);

        card->severity = gtk_label_new(NULL);
        gtk_widget_add_css_class(card->severity, "caption-heading");
        card->silent = gtk_label_new(NULL);
        gtk_widget_add_css_class(card->silent, "caption-heading");
        gtk_widget_add_css_class(card->silent, "dim-label");
        card->id = gtk_label_new(NULL);
        gtk_label_set_ellipsize(GTK_LABEL(card->id), PANGO_ELLIPSIZE_END);
        gtk_widget_add_css_class(card->id, "caption");
        gtk_widget_add_css_class(card->id, "dim-label");
        gtk_box_append(GTK_BOX(head), card->severity);
        gtk_box_append(GTK_BOX(head), card->silent);
        gtk_box_append(GTK_BOX(head), card->id);
        return head;
}

static GtkWidget *body_new(AldFindingCard *card)
{
        GtkWidget *body = gtk_box_new(GTK_ORIENTATION_VERTICAL, SPACING / 2);

        card->words = paragraph_new(NULL);
        card->period = paragraph_new("caption");
        card->remedy = paragraph_new("dim-label");
        card->nodes = gtk_flow_box_new();
        gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(card->nodes), GTK_SELECTION_NONE);
        gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(card->nodes), NODES_MAX + 1);
        gtk_widget_set_hexpand(body, TRUE);
        gtk_box_append(GTK_BOX(body), head_new(card));
        gtk_box_append(GTK_BOX(body), card->words);
        gtk_box_append(GTK_BOX(body), card->period);
        gtk_box_append(GTK_BOX(body), card->remedy);
        gtk_box_append(GTK_BOX(body), card->nodes);
        return body;
}

static GtkWidget *copy_button_new(AldFindingCard *card)
{
        GtkWidget *button = gtk_button_new_from_icon_name("edit-copy-symbolic");

        gtk_widget_add_css_class(button, "flat");
        gtk_widget_add_css_class(button, "circular");
        gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
        ald_button_name(button, _("Copy Finding"));
        g_signal_connect(button, "clicked", G_CALLBACK(on_copy), card);
        return button;
}

static void ald_finding_card_init(AldFindingCard *card)
{
        GtkWidget *widget = GTK_WIDGET(card);

        gtk_box_set_spacing(GTK_BOX(card), SPACING);
        gtk_widget_set_margin_top(widget, SPACING);
        gtk_widget_set_margin_bottom(widget, SPACING);
        gtk_widget_set_margin_start(widget, SPACING);
        gtk_widget_set_margin_end(widget, SPACING / 2);
        card->symbol = gtk_image_new();
        gtk_widget_set_valign(card->symbol, GTK_ALIGN_START);
        gtk_box_append(GTK_BOX(card), card->symbol);
        gtk_box_append(GTK_BOX(card), body_new(card));
        gtk_box_append(GTK_BOX(card), copy_button_new(card));
}

GtkWidget *ald_finding_card_new(AldLiveCluster *cluster)
{
        AldFindingCard *card = g_object_new(ALD_TYPE_FINDING_CARD, NULL);

        card->cluster = g_object_ref(cluster);
        return GTK_WIDGET(card);
}
