/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/desktop/live/link-item.h"
#include "clients/desktop/tables/data-table.h"
#include "clients/desktop/tables/links-page.h"
#include "clients/desktop/tables/table-menus.h"

static const AldLinkSummary *summary_of(gpointer item)
{
        return ald_link_item_summary(item);
}

static char *source_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(summary_of(item)->source);
}

static char *sink_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(summary_of(item)->sink);
}

static char *path_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(summary_of(item)->rdma ? "RDMA" : "TCP/IP");
}

static char *address_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(summary_of(item)->path);
}

static char *type_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(summary_of(item)->type);
}

static char *interface_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(summary_of(item)->interface);
}

static double upload_number(gpointer item)
{
        return summary_of(item)->upload.rate;
}

static double upload_interval_number(gpointer item)
{
        return summary_of(item)->upload.interval;
}

static double download_number(gpointer item)
{
        return summary_of(item)->download.rate;
}

static double download_interval_number(gpointer item)
{
        return summary_of(item)->download.interval;
}

static double rtt_number(gpointer item)
{
        return summary_of(item)->rtt / 2;
}

static double jitter_number(gpointer item)
{
        return summary_of(item)->jitter / 2;
}

static double age_number(gpointer item)
{
        return summary_of(item)->now - summary_of(item)->measured;
}

/* By the clock of the source, as it is now. */
static char *age_text(gpointer item, AldLiveCluster *cluster)
{
        const AldLinkSummary *summary = summary_of(item);
        const AldEntity *source = ald_model_get(ald_live_cluster_model(cluster), summary->source_id);

        return ald_format_age(
                summary->measured, source ? ald_node_now(source, ald_live_now()) : ald_live_now());
}

/* In the order of AldLinkVerdict, the worst last. */
static double verdict_number(gpointer item)
{
        return summary_of(item)->verdict;
}

static char *verdict_text(gpointer item, AldLiveCluster *cluster)
{
        AldTone tone;

        return g_strdup(ald_link_item_verdict(item, &tone));
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
        const AldLinkSummary *summary = summary_of(item);
        AldTone tone;

        /* Translators: source and sink of a link, its address, and the verdict on it. */
        return g_strdup_printf(_("%s to %s, %s, %s"), summary->source, summary->sink, summary->path,
                ald_link_item_verdict(item, &tone));
}

/* What matters most comes first, as the last ones may be out of sight. */
static const AldDataColumn columns[] = {
        { "source", N_("From"), .tooltip = N_("The node that measured the link"), .chars = 12,
                .searched = true, .parts = ALD_LIVE_LINKS, .text = source_text, .row_label = row_label },
        { "sink", N_("To"), .tooltip = N_("The node at the other end of the link"), .chars = 12,
                .searched = true, .parts = ALD_LIVE_LINKS, .text = sink_text },
        { "verdict", N_("Verdict"), .look = ALD_CELL_SYMBOL, .chars = 20, .expands = true, .searched = true,
                .parts = ALD_LIVE_LINKS, .text = verdict_text, .number = verdict_number,
                .symbol = verdict_symbol },
        { "upload", N_("From → To"), N_("Rate From → To"),
                N_("How much the node under “From” sends to the node under “To” in a second"),
                .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_LINKS, .number = upload_number,
                .format = ald_format_bits_per_second },
        { "download", N_("To → From"), N_("Rate To → From"),
                N_("How much the node under “To” sends back to the node under “From” in a second"),
                .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_LINKS, .number = download_number,
                .format = ald_format_bits_per_second },
        { "rtt", N_("RTT/2"), .tooltip = N_("Half of the median round trip"), .look = ALD_CELL_NUMBER,
                .chars = 8, .parts = ALD_LIVE_LINKS, .number = rtt_number, .format = ald_format_nsec },
        { "age", N_("Age"), .tooltip = N_("How long ago the link was measured"), .look = ALD_CELL_NUMBER,
                .chars = 10, .ages = true, .parts = ALD_LIVE_LINKS, .text = age_text, .number = age_number },
        { "path", N_("Protocol"), .chars = 6, .searched = true, .parts = ALD_LIVE_LINKS, .text = path_text },
        { "address", N_("Address"), .chars = 18, .searched = true, .parts = ALD_LIVE_LINKS,
                .text = address_text },
        { "type", N_("Type"), .chars = 10, .searched = true, .parts = ALD_LIVE_LINKS, .text = type_text },
        { "interface", N_("Interface"), .chars = 9, .searched = true, .parts = ALD_LIVE_LINKS,
                .text = interface_text },
        { "upload-interval", N_("± →"), N_("Uncertainty of From → To"),
                N_("Half the width of the confidence interval of the rate from “From” to “To”, in percent"),
                .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_LINKS,
                .number = upload_interval_number, .format = ald_format_interval },
        { "download-interval", N_("± ←"), N_("Uncertainty of To → From"),
                N_("Half the width of the confidence interval of the rate from “To” to “From”, in percent"),
                .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_LINKS,
                .number = download_interval_number, .format = ald_format_interval },
        { "jitter", N_("Jitter/2"), .tooltip = N_("Half of the mean difference of consecutive round trips"),
                .look = ALD_CELL_NUMBER, .chars = 8, .parts = ALD_LIVE_LINKS, .number = jitter_number,
                .format = ald_format_nsec },
};

static void activate(GtkWidget *table, gpointer item)
{
        const AldLinkSummary *summary = summary_of(item);

        gtk_widget_activate_action(table, "win.show-pair", "(ss)", summary->source_id, summary->sink_id);
}

static void add_node(GMenu *section, const char *name, const char *id)
{
        /* Translators: the name of a node, of which the details are then shown. */
        g_autofree char *label = g_strdup_printf(_("Details of %s"), name);

        ald_menu_add(section, label, "win.show-node", g_variant_new_string(id));
}

static void add_probe(GMenu *section, const char *label, const char *peer, const char *how)
{
        ald_menu_add(section, label, "win.probe-link", g_variant_new("(ss)", peer, how));
}

/* This machine probes its own links, in both directions. */
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
        const AldLinkSummary *summary = summary_of(item);
        g_autoptr(GMenu) details = g_menu_new(), probes = g_menu_new();

        ald_menu_add(details, _("Details"), "win.show-pair",
                g_variant_new("(ss)", summary->source_id, summary->sink_id));
        add_node(details, summary->source, summary->source_id);
        add_node(details, summary->sink, summary->sink_id);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(details));
        add_probes(probes, summary, cluster);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(probes));
}

/* A machine alone needs a cluster first, if its own record says that it is in none. */
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
        .columns = columns,
        .n_columns = G_N_ELEMENTS(columns),
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
