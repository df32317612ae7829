/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/details/details-header.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/details/probe-menu.h"
#include "clients/desktop/widgets/widget-words.h"

#define NAME_MAX_SHOWN 32 /* of a menu */

struct _AldDetailsHeader {
        GtkBox parent;
        GtkWidget *title, *subtitle, *rename, *menu;
        char *menu_key; /* identifies what the menu was made from */
};

G_DEFINE_FINAL_TYPE(AldDetailsHeader, ald_details_header, GTK_TYPE_BOX)

static void ald_details_header_finalize(GObject *object)
{
        g_free(ALD_DETAILS_HEADER(object)->menu_key);
        G_OBJECT_CLASS(ald_details_header_parent_class)->finalize(object);
}

static void ald_details_header_class_init(AldDetailsHeaderClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_details_header_finalize;
}

static GtkWidget *make_button(const char *icon, const char *name, const char *action)
{
        GtkWidget *button = gtk_button_new_from_icon_name(icon);

        gtk_widget_set_tooltip_text(button, name);
        gtk_widget_add_css_class(button, "flat");
        gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
        ald_widget_describe(button, name, NULL);
        return button;
}

static GtkWidget *make_line(const char *style_class)
{
        GtkWidget *label = gtk_label_new(NULL);

        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        /* The label gets the space that is left but requests almost none, because a long name would widen the
         * pane. */
        gtk_label_set_max_width_chars(GTK_LABEL(label), 1);
        gtk_widget_add_css_class(label, style_class);
        return label;
}

static GtkWidget *make_titles(AldDetailsHeader *header)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

        header->title = make_line("heading");
        header->subtitle = make_line("caption");
        gtk_widget_set_hexpand(box, TRUE);
        gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
        gtk_widget_set_margin_start(box, 6);
        gtk_box_append(GTK_BOX(box), header->title);
        gtk_box_append(GTK_BOX(box), header->subtitle);
        return box;
}

static void ald_details_header_init(AldDetailsHeader *header)
{
        gtk_widget_add_css_class(GTK_WIDGET(header), "toolbar");
        gtk_box_append(GTK_BOX(header), make_titles(header));
        header->rename = make_button("document-edit-symbolic", _("Rename"), "win.set-name");
        gtk_box_append(GTK_BOX(header), header->rename);
        header->menu = gtk_menu_button_new();
        gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(header->menu), "view-more-symbolic");
        ald_button_name(header->menu, _("Actions"));
        gtk_widget_set_valign(header->menu, GTK_ALIGN_CENTER);
        ald_widget_describe(header->menu, _("Actions"), NULL);
        gtk_box_append(GTK_BOX(header), header->menu);
        gtk_box_append(GTK_BOX(header),
                make_button("window-close-symbolic", _("Close Details"), "win.close-details"));
}

GtkWidget *ald_details_header_new(void)
{
        return g_object_new(ALD_TYPE_DETAILS_HEADER, NULL);
}

/* Shows a text, also as a tooltip, since names can be of any length. */
static void update_line(GtkWidget *label, const char *text)
{
        ald_label_show(label, text);
        if (g_strcmp0(gtk_widget_get_tooltip_text(label), text) != 0)
                gtk_widget_set_tooltip_text(label, text);
}

static void append_action(GMenu *menu, const char *label, const char *action, const char *target)
{
        g_autoptr(GMenuItem) item = g_menu_item_new(label, NULL);

        if (target)
                g_menu_item_set_action_and_target(item, action, "s", target);
        else
                g_menu_item_set_detailed_action(item, action);
        g_menu_append_item(menu, item);
}

static void append_probes(GMenu *menu, const char *node_id)
{
        g_autoptr(GMenuModel) probes = ald_probe_menu_new(node_id);

        g_menu_append_section(menu, NULL, probes);
}

static bool has_silence(const AldDetailsSubject *subject)
{
        return ald_live_history_has_silence(
                ald_live_cluster_history(subject->cluster), subject->a, subject->b);
}

static void append_silence(GMenu *menu, const AldDetailsSubject *subject)
{
        bool silent = has_silence(subject);
        g_autoptr(GMenuItem)
                item = g_menu_item_new(silent ? _("Stop _Silencing") : _("_Silence Findings…"), NULL);
        g_autoptr(GMenu) section = g_menu_new();

        g_menu_item_set_action_and_target(
                item, silent ? "win.unsilence" : "win.silence", "(ss)", subject->a, subject->b ?: "");
        g_menu_append_item(section, item);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
}

static bool is_offline(const AldDetailsSubject *subject, const AldEntity *node)
{
        return node && ald_node_exclusion(subject->model, node);
}

static GMenu *make_node_menu(const AldDetailsSubject *subject)
{
        GMenu *menu = g_menu_new();

        if (ald_details_subject_is_own(subject, subject->a)) {
                append_action(menu, _("_Measure All Devices"), "win.probe-device", "");
                append_action(menu, _("Re_name…"), "win.set-name", NULL);
        } else if (is_offline(subject, subject->node_a)) {
                append_action(menu, _("_Forget…"), "win.forget", subject->a);
        } else {
                append_probes(menu, subject->a);
        }
        if (!ald_details_subject_is_own(subject, subject->a))
                append_action(menu, _("Re_name…"), "win.set-name-there", NULL);
        append_silence(menu, subject);
        return menu;
}

static void append_node(GMenu *menu, const AldDetailsSubject *subject, const char *id)
{
        g_autofree char *name = ald_details_subject_name(subject, id);
        g_autofree char *brief = ald_text_shortened(name, NAME_MAX_SHOWN);
        g_autofree char *label = g_strdup_printf(_("Show %s"), brief);
        g_auto(GStrv) parts = g_strsplit(label, "_", -1); /* an underscore in a name marks no mnemonic */
        g_autofree char *escaped = g_strjoinv("__", parts);

        append_action(menu, escaped, "win.show-node", id);
}

static GMenu *make_pair_menu(const AldDetailsSubject *subject)
{
        GMenu *menu = g_menu_new();
        g_autoptr(GMenu) nodes = g_menu_new();

        append_node(nodes, subject, subject->a);
        append_node(nodes, subject, subject->b);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(nodes));
        append_silence(menu, subject);
        if (is_offline(subject, subject->node_a) || is_offline(subject, subject->node_b))
                return menu;
        if (ald_details_subject_is_own(subject, subject->a))
                append_probes(menu, subject->b);
        else if (ald_details_subject_is_own(subject, subject->b))
                append_probes(menu, subject->a);
        return menu;
}

/* Replaces the menu only if it differs, since it may be open while figures change. */
static void show_menu(AldDetailsHeader *header, const AldDetailsSubject *subject, const char *title)
{
        g_autofree char *key = g_strdup_printf("%s %s %s %d %d %d %s",
                ald_model_node_id(subject->model) ?: "", subject->a, subject->b ?: "",
                is_offline(subject, subject->node_a), is_offline(subject, subject->node_b),
                has_silence(subject), title);
        g_autoptr(GMenu) menu = NULL;

        if (g_strcmp0(key, header->menu_key) == 0)
                return;
        g_free(header->menu_key);
        header->menu_key = g_steal_pointer(&key);
        menu = subject->b ? make_pair_menu(subject) : make_node_menu(subject);
        gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(header->menu), G_MENU_MODEL(menu));
}

static char *describe_presence(const AldDetailsSubject *subject, const AldEntity *node, AldTone *ret_tone)
{
        *ret_tone = ALD_TONE_FAINT;
        return node ? ald_format_seen(node, subject->now, ret_tone) : g_strdup(_("no longer known"));
}

/* Names the nodes that are not online, such as "birch: offline for 5 min", or says that both are. */
static char *describe_pair(const AldDetailsSubject *subject, AldTone *ret_tone)
{
        const AldEntity *const nodes[] = { subject->node_a, subject->node_b };
        const char *const ids[] = { subject->a, subject->b };
        GString *text = g_string_new(NULL);

        *ret_tone = ALD_TONE_GOOD;
        for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++) {
                AldTone tone;
                g_autofree char *seen = describe_presence(subject, nodes[i], &tone);
                g_autofree char *name = ald_details_subject_name(subject, ids[i]);

                if (tone == ALD_TONE_GOOD)
                        continue;
                *ret_tone = MAX(*ret_tone, tone);
                g_string_append_printf(text, "%s%s: %s", text->len > 0 ? "; " : "", name, seen);
        }
        if (text->len == 0)
                g_string_append(text, _("both online"));
        return g_string_free(text, FALSE);
}

static char *describe_title(const AldDetailsSubject *subject)
{
        g_autofree char *a = ald_details_subject_name(subject, subject->a);
        g_autofree char *b = subject->b ? ald_details_subject_name(subject, subject->b) : NULL;

        return b ? ald_pair_words(a, b) : g_steal_pointer(&a);
}

/* Shows the button only for one node. It is insensitive for other machines, because a machine is renamed by
 * its own services. */
static void show_rename(AldDetailsHeader *header, const AldDetailsSubject *subject)
{
        bool own = subject && ald_details_subject_is_own(subject, subject->a);
        const char *hint = own ? NULL : _("To rename another machine, connect to it first");

        gtk_widget_set_visible(header->rename, subject && !subject->b && subject->node_a);
        gtk_widget_set_sensitive(header->rename, own);
        if (g_strcmp0(gtk_widget_get_tooltip_text(header->rename), hint ?: _("Rename")) != 0)
                gtk_widget_set_tooltip_text(header->rename, hint ?: _("Rename"));
        ald_widget_describe(header->rename, _("Rename"), hint);
}

void ald_details_header_show(AldDetailsHeader *header, const AldDetailsSubject *subject)
{
        AldTone tone = ALD_TONE_FAINT;
        g_autofree char *title = subject ? describe_title(subject) : g_strdup(_("Details"));
        g_autofree char *subtitle = !subject     ? NULL
                                    : subject->b ? describe_pair(subject, &tone)
                                                 : describe_presence(subject, subject->node_a, &tone);

        update_line(header->title, title);
        update_line(header->subtitle, subtitle);
        ald_widget_show_tone(header->subtitle, tone);
        gtk_widget_set_visible(header->menu, subject && subject->node_a);
        show_rename(header, subject);
        if (subject)
                show_menu(header, subject, title);
}
