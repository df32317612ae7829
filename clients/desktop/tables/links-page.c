/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/columns/link-columns.h"
#include "clients/desktop/live/link-item.h"
#include "clients/desktop/tables/data-table.h"
#include "clients/desktop/tables/links-page.h"
#include "clients/desktop/tables/table-menus.h"

static const void *row_of(gpointer item, AldLiveCluster *cluster)
{
        return ald_link_item_summary(item);
}

static AldCellSymbol verdict_symbol(gpointer item, AldLiveCluster *cluster)
{
        static const char *const icons[] = {
                [ALD_TONE_PLAIN] = "dialog-information-symbolic",
                [ALD_TONE_FAINT] = "content-loading-symbolic",
                [ALD_TONE_GOOD] = "object-select-symbolic",
                [ALD_TONE_WARNING] = "dialog-warning-symbolic",
                [ALD_TONE_ERROR] = "dialog-error-symbolic",
        };
        AldTone tone;
        const char *verdict = ald_link_item_verdict(item, &tone);

        return (AldCellSymbol){ icons[tone], verdict, tone };
}

static char *row_label(gpointer item, AldLiveCluster *cluster)
{
        const AldLinkSummary *summary = ald_link_item_summary(item);
        AldTone tone;

        /* Translators: source and sink of a link, its address, and the verdict on it. */
        return g_strdup_printf(_("%s to %s, %s, %s"), summary->source, summary->sink, summary->path,
                ald_link_item_verdict(item, &tone));
}

/* The looks of the columns of the list of links. */
static const AldDataColumn looks[ALD_LINK_N_COLUMNS] = {
        [ALD_LINK_COLUMN_SOURCE] = { .chars = 12,
                .searched = true,
                .parts = ALD_LIVE_LINKS,
                .row_label = row_label },
        [ALD_LINK_COLUMN_SINK] = { .chars = 12, .searched = true, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_VERDICT] = { .look = ALD_CELL_SYMBOL,
                .chars = 20,
                .expands = true,
                .searched = true,
                .parts = ALD_LIVE_LINKS,
                .symbol = verdict_symbol },
        [ALD_LINK_COLUMN_UPLOAD] = { .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_DOWNLOAD] = { .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_RTT] = { .look = ALD_CELL_NUMBER, .chars = 8, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_AGE] = { .look = ALD_CELL_NUMBER,
                .chars = 10,
                .ages = true,
                .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_PROTOCOL] = { .chars = 6, .searched = true, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_ADDRESS] = { .chars = 18, .searched = true, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_TYPE] = { .chars = 10, .searched = true, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_INTERFACE] = { .chars = 9, .searched = true, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_UPLOAD_INTERVAL] = { .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_DOWNLOAD_INTERVAL] = { .look = ALD_CELL_NUMBER,
                .chars = 6,
                .parts = ALD_LIVE_LINKS },
        [ALD_LINK_COLUMN_JITTER] = { .look = ALD_CELL_NUMBER, .chars = 8, .parts = ALD_LIVE_LINKS },
};

static void activate(GtkWidget *table, gpointer item)
{
        const AldLinkSummary *summary = ald_link_item_summary(item);

        gtk_widget_activate_action(table, "win.show-pair", "(ss)", summary->source_id, summary->sink_id);
}

static void add_node_details(GMenu *section, const char *name, const char *id)
{
        /* Translators: the name of a node, of which the details are then shown. */
        g_autofree char *label = g_strdup_printf(_("Details of %s"), name);

        ald_menu_add(section, label, "win.show-node", g_variant_new_string(id));
}

static void add_probe(GMenu *section, const char *label, const char *peer, const char *how)
{
        ald_menu_add(section, label, "win.probe-link", g_variant_new("(ss)", peer, how));
}

/* Adds the probes of a link of this machine, which probes its own links in both directions, but no others. */
static void add_probes(GMenu *section, const AldLinkSummary *summary, AldLiveCluster *cluster)
{
        const char *own = ald_model_node_id(ald_live_cluster_model(cluster));
        const char *peer = g_strcmp0(summary->source_id, own) == 0 ? summary->sink_id
                           : g_strcmp0(summary->sink_id, own) == 0 ? summary->source_id
                                                                   : NULL;

        if (!peer || summary->excluded)
                return;
        if (summary->rdma) {
                add_probe(section, _("Measure RDMA"), peer, "rdma");
                return;
        }
        add_probe(section, _("Measure TCP/IP"), peer, "socket");
        add_probe(section, _("Measure Round Trips Only"), peer, "rtt");
}

static void fill_menu(GMenu *menu, gpointer item, AldLiveCluster *cluster)
{
        const AldLinkSummary *summary = ald_link_item_summary(item);
        g_autoptr(GMenu) details = g_menu_new(), probes = g_menu_new();

        ald_menu_add(details, _("Details"), "win.show-pair",
                g_variant_new("(ss)", summary->source_id, summary->sink_id));
        add_node_details(details, summary->source, summary->source_id);
        add_node_details(details, summary->sink, summary->sink_id);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(details));
        add_probes(probes, summary, cluster);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(probes));
}

/* Advises to join or create a cluster if this machine's own record shows that it is in none. */
static const char *advise(AldLiveCluster *cluster, gpointer userdata)
{
        AldModel *model = ald_live_cluster_model(cluster);
        const AldMembership *membership = ald_entity_as(
                ald_model_get(model, ald_model_node_id(model)), MEMBERSHIP, AldMembership);

        return membership && !membership->cluster_name
                       ? _("This machine is in no cluster. To join one, run “alidadectl cluster join” on it; "
                           "“alidadectl cluster init” creates one.")
                       : NULL;
}

static const AldDataTableKind kind = {
        .label = N_("Links"),
        .columns = looks,
        .n_columns = G_N_ELEMENTS(looks),
        .list = &ald_link_column_list,
        .row = row_of,
        .page = { .placeholder = N_("Search links"),
                .empty_title = N_("No Links"),
                .empty_text = N_("Links appear when this machine knows another node with a path to it"),
                .empty_icon = "alidade-links-symbolic",
                .advice = advise },
        .activate = activate,
        .fill_menu = fill_menu,
};

GtkWidget *ald_links_page_new(AldLiveCluster *cluster)
{
        return ald_data_table_new(cluster, ald_live_cluster_links(cluster), &kind);
}
