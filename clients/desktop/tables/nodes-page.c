/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/live/node-item.h"
#include "clients/desktop/tables/data-table.h"
#include "clients/desktop/tables/nodes-page.h"
#include "clients/desktop/tables/table-menus.h"
#include "clients/desktop/widgets/presence-symbol.h"

static const void *row_of(gpointer item, AldLiveCluster *cluster)
{
        return ald_node_item_row(item);
}

static AldCellSymbol name_symbol(gpointer item, AldLiveCluster *cluster)
{
        static const struct {
                const char *chassis, *name;
        } kinds[] = {
                { "laptop", N_("Laptop") },
                { "convertible", N_("Convertible") },
                { "server", N_("Server") },
                { "vm", N_("Virtual machine") },
                { "container", N_("Container") },
                { "embedded", N_("Embedded board") },
                { "tablet", N_("Tablet") },
        };
        const AldIdentity *identity = ald_entity_as(ald_node_item_entity(item), IDENTITY, AldIdentity);
        const char *name = N_("Computer");

        for (size_t i = 0; identity && i < G_N_ELEMENTS(kinds); i++)
                if (g_strcmp0(identity->chassis, kinds[i].chassis) == 0)
                        name = kinds[i].name;
        return (AldCellSymbol){ ald_node_item_icon(item), _(name), ALD_TONE_PLAIN };
}

static AldCellSymbol state_symbol(gpointer item, AldLiveCluster *cluster)
{
        AldPresenceSymbol symbol = ald_presence_symbol(item);

        return (AldCellSymbol){ symbol.icon, symbol.name, symbol.tone };
}

static char *row_label(gpointer item, AldLiveCluster *cluster)
{
        AldTone tone;
        g_autofree char *state = ald_node_item_seen(item, &tone);

        return g_strdup_printf("%s, %s", ald_node_item_name(item), state);
}

/* The looks of the columns of the list of nodes. Columns whose text may be long are searched. */
static const AldDataColumn looks[ALD_NODE_N_COLUMNS] = {
        [ALD_NODE_COLUMN_NAME] = { .look = ALD_CELL_SYMBOL,
                .chars = 14,
                .searched = true,
                .ages = true,
                .parts = ALD_LIVE_NODE_SET,
                .symbol = name_symbol,
                .row_label = row_label },
        [ALD_NODE_COLUMN_STATE] = { .look = ALD_CELL_SYMBOL,
                .chars = 16,
                .searched = true,
                .ages = true,
                .parts = ALD_LIVE_FIGURES,
                .symbol = state_symbol },
        [ALD_NODE_COLUMN_MEMORY] = { .look = ALD_CELL_LEVEL,
                .chars = 16,
                .parts = ALD_LIVE_FIGURES,
                .phrase = N_("%s free"),
                .level = &ald_node_columns[ALD_NODE_COLUMN_USED] },
        [ALD_NODE_COLUMN_CPU] = { .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_TFLOPS] = { .look = ALD_CELL_NUMBER, .chars = 10, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_BANDWIDTH] = { .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_ADDRESSES] = { .chars = 24, .searched = true, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_GPUS] = { .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_GPU_LOAD] = { .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_TEMPERATURE] = { .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_POWER] = { .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_MODEL] = { .chars = 22,
                .expands = true,
                .searched = true,
                .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_PROCESSOR] = { .chars = 22, .searched = true, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_SYSTEM] = { .chars = 24, .searched = true, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_VERSION] = { .chars = 8, .searched = true, .parts = ALD_LIVE_FIGURES },
        [ALD_NODE_COLUMN_ID] = { .chars = 12, .hidden = true, .searched = true, .parts = ALD_LIVE_NODE_SET },
};

/* Actions. */

static void activate(GtkWidget *table, gpointer item)
{
        gtk_widget_activate_action(table, "win.show-node", "s", ald_node_item_id(item));
}

static bool has_rdma(gpointer item)
{
        const AldFabric *fabric = ald_entity_as(ald_node_item_entity(item), FABRIC, AldFabric);

        return fabric && fabric->rdma_ports.n > 0;
}

static void add_probe(GMenu *section, const char *label, gpointer item, const char *how)
{
        ald_menu_add(section, label, "win.probe-link", g_variant_new("(ss)", ald_node_item_id(item), how));
}

static void add_probes(GMenu *section, gpointer item)
{
        if (ald_node_item_row(item)->is_own) {
                ald_menu_add(section, _("Measure All Devices"), "win.probe-device", g_variant_new_string(""));
                ald_menu_add(section, _("Rename…"), "win.set-name", NULL);
                return;
        }
        ald_menu_add(section, _("Rename…"), "win.set-name-there", NULL);
        if (ald_node_item_presence(item) > ALD_ITEM_PRESENCE_STALE)
                return;
        add_probe(section, _("Measure Links from This Machine"), item, "socket");
        add_probe(section, _("Measure Round Trips Only"), item, "rtt");
        if (has_rdma(item))
                add_probe(section, _("Measure RDMA"), item, "rdma");
}

static void fill_menu(GMenu *menu, gpointer item, AldLiveCluster *cluster)
{
        g_autoptr(GMenu) details = g_menu_new(), probes = g_menu_new(), forget = g_menu_new();
        const char *id = ald_node_item_id(item);

        ald_menu_add(details, _("Details"), "win.show-node", g_variant_new_string(id));
        g_menu_append_section(menu, NULL, G_MENU_MODEL(details));
        add_probes(probes, item);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(probes));
        if (ald_node_item_presence(item) != ALD_ITEM_PRESENCE_OFFLINE)
                return;
        ald_menu_add(forget, _("Forget…"), "win.forget", g_variant_new_string(id));
        g_menu_append_section(menu, NULL, G_MENU_MODEL(forget));
}

static const AldDataTableKind kind = {
        .label = N_("Nodes"),
        .columns = looks,
        .n_columns = G_N_ELEMENTS(looks),
        .list = &ald_node_column_list,
        .row = row_of,
        .page = { .placeholder = N_("Search nodes"),
                .empty_title = N_("No Nodes"),
                .empty_text = N_("The state service knows of no node, not even this machine"),
                .empty_icon = "network-server-symbolic" },
        .activate = activate,
        .fill_menu = fill_menu,
};

GtkWidget *ald_nodes_page_new(AldLiveCluster *cluster)
{
        return ald_data_table_new(cluster, ald_live_cluster_nodes(cluster), &kind);
}
