/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/common/node-summary.h"
#include "clients/common/words.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/details/probe-menu.h"
#include "clients/desktop/details/sections.h"
#include "clients/desktop/widgets/widget-words.h"

#define ALD_TYPE_PATHS_SECTION (ald_paths_section_get_type())
G_DECLARE_FINAL_TYPE(AldPathsSection, ald_paths_section, ALD, PATHS_SECTION, AldDetailsSection)

struct _AldPathsSection {
        AldDetailsSection parent;
        GtkWidget *probe;
        char *peer; /* id of the node that the button probes; NULL: none */
        bool was_set;
};

G_DEFINE_FINAL_TYPE(AldPathsSection, ald_paths_section, ALD_TYPE_DETAILS_SECTION)

static void ald_paths_section_finalize(GObject *object)
{
        g_free(ALD_PATHS_SECTION(object)->peer);
        G_OBJECT_CLASS(ald_paths_section_parent_class)->finalize(object);
}

/* Returns the node of the pair with which the machine of the window can measure links, or NULL if that is
 * neither. */
static const AldEntity *find_peer(const AldDetailsSubject *subject)
{
        if (ald_details_subject_is_own(subject, subject->a))
                return subject->node_b;
        return ald_details_subject_is_own(subject, subject->b) ? subject->node_a : NULL;
}

static char *describe_why_not(const AldDetailsSubject *subject, const AldEntity *peer)
{
        g_autofree char *own = ald_details_subject_name(subject, ald_model_node_id(subject->model));
        g_autofree char *name = peer ? ald_details_subject_name(subject, peer->id) : NULL;

        if (peer)
                return g_strdup_printf(_("%s cannot be reached: it is %s"), name,
                        ald_word(ald_node_exclusion(subject->model, peer)));
        return own ? g_strdup_printf(
                             _("This window shows %s, from which only its own links can be measured"), own)
                   : g_strdup(_("The machine that this window shows has not reported its id"));
}

static void set_peer(AldPathsSection *section, const char *peer)
{
        AdwSplitButton *button = ADW_SPLIT_BUTTON(section->probe);
        g_autoptr(GMenuModel) menu = peer ? ald_probe_menu_new(peer) : NULL;

        g_free(section->peer);
        section->peer = g_strdup(peer);
        section->was_set = true;
        adw_split_button_set_menu_model(button, menu);
        if (peer) {
                gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "(ss)", peer, "socket");
                gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.probe-link");
        } else {
                gtk_actionable_set_action_name(GTK_ACTIONABLE(button), NULL);
        }
        gtk_widget_set_sensitive(section->probe, peer != NULL);
}

static void show_probe(AldPathsSection *section, const AldDetailsSubject *subject)
{
        const AldEntity *peer = find_peer(subject);
        bool reachable = peer && !ald_node_exclusion(subject->model, peer);
        const char *target = reachable ? peer->id : NULL;
        g_autofree char *words = reachable ? g_strdup(_("Measure the paths over TCP/IP now"))
                                           : describe_why_not(subject, peer);

        if (!section->was_set || g_strcmp0(target, section->peer) != 0)
                set_peer(section, target);
        if (g_strcmp0(gtk_widget_get_tooltip_text(section->probe), words) != 0)
                gtk_widget_set_tooltip_text(section->probe, words);
        ald_widget_describe(section->probe, _("Measure Now"), words);
}

static void update_paths(AldDetailsSection *base, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(base);

        show_probe(ALD_PATHS_SECTION(base), subject);
        ald_keyed_rows_begin(rows);
        ald_path_rows_name(rows, subject, subject->a, subject->b);
        ald_keyed_rows_end(rows);
}

static void ald_paths_section_class_init(AldPathsSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        G_OBJECT_CLASS(class)->finalize = ald_paths_section_finalize;
        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY | ALD_LIVE_LINKS | ALD_DETAILS_TICK;
        section_class->update = update_paths;
}

static void ald_paths_section_init(AldPathsSection *section)
{
        section->probe = adw_split_button_new();
        adw_split_button_set_label(ADW_SPLIT_BUTTON(section->probe), _("Measure Now"));
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("All Paths"));
        ald_details_section_add_suffix(ALD_DETAILS_SECTION(section), section->probe);
}

GtkWidget *ald_paths_section_new(void)
{
        return g_object_new(ALD_TYPE_PATHS_SECTION, NULL);
}
