/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/live/node-item.h"
#include "clients/desktop/tables/data-table.h"
#include "clients/desktop/tables/nodes-page.h"
#include "clients/desktop/tables/table-menus.h"
#include "clients/desktop/widgets/presence-symbol.h"

#define SHOWN_ID_LENGTH 12

static const AldIdentity *identity_of(gpointer item)
{
        static const AldIdentity unknown = ALD_IDENTITY_INIT;

        return ald_entity_as(ald_node_item_entity(item), IDENTITY, AldIdentity) ?: &unknown;
}

static bool is_own(gpointer item, AldLiveCluster *cluster)
{
        return g_strcmp0(ald_node_item_id(item), ald_model_node_id(ald_live_cluster_model(cluster))) == 0;
}

/* Who it is, and how it is. */

static char *name_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strdup(ald_node_item_name(item));
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
        const char *name = N_("Computer");

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (g_strcmp0(identity_of(item)->chassis, kinds[i].chassis) == 0)
                        name = kinds[i].name;
        return (AldCellSymbol){ ald_node_item_icon(item), _(name), ALD_TONE_PLAIN };
}

static char *state_text(gpointer item, AldLiveCluster *cluster)
{
        AldTone tone;

        return ald_node_item_seen(item, &tone);
}

static double state_number(gpointer item)
{
        return ald_node_item_presence(item);
}

static AldCellSymbol state_symbol(gpointer item, AldLiveCluster *cluster)
{
        AldPresenceSymbol symbol = ald_presence_symbol(item);

        return (AldCellSymbol){ symbol.icon, symbol.name, symbol.tone };
}

static char *row_label(gpointer item, AldLiveCluster *cluster)
{
        g_autofree char *state = state_text(item, cluster);

        return g_strdup_printf("%s, %s", ald_node_item_name(item), state);
}

/* Figures. */

static double memory_number(gpointer item)
{
        return ald_node_item_figures(item)->memory_available;
}

static char *memory_text(gpointer item, AldLiveCluster *cluster)
{
        const AldNodeFigures *figures = ald_node_item_figures(item);
        GString *text = g_string_new(NULL);

        ald_parts_add(
                text, _("%s free"), ald_format_bytes_of(figures->memory_available, figures->memory_total));
        return g_string_free(text, text->len == 0);
}

static double memory_level(gpointer item)
{
        const AldNodeFigures *figures = ald_node_item_figures(item);

        return 1 - figures->memory_available / figures->memory_total;
}

static double cpu_number(gpointer item)
{
        return ald_node_item_figures(item)->usage;
}

static double gpus_number(gpointer item)
{
        const AldGpuSummary *gpus = ald_node_item_gpus(item);

        return gpus->known || gpus->n > 0 ? gpus->n : (double) ALD_ABSENT_DOUBLE;
}

static char *gpus_text(gpointer item, AldLiveCluster *cluster)
{
        return gpus_number(item) == 0 ? g_strdup(_("none")) : ald_format_count(gpus_number(item));
}

static double gpu_load_number(gpointer item)
{
        return ald_node_item_gpus(item)->usage;
}

static char *gpu_load_text(gpointer item, AldLiveCluster *cluster)
{
        const AldGpuSummary *gpus = ald_node_item_gpus(item);

        return gpus->n > 0 && gpus->n_asleep == gpus->n ? g_strdup(_("asleep"))
                                                        : ald_format_percent(gpus->usage);
}

static double power_number(gpointer item)
{
        return ald_node_item_figures(item)->microwatts;
}

static double tflops_number(gpointer item)
{
        return ald_node_item_figures(item)->tflops;
}

static char *compute_text(gpointer item, AldLiveCluster *cluster)
{
        return ald_node_compute(ald_node_item_figures(item));
}

static double bandwidth_number(gpointer item)
{
        return ald_node_item_figures(item)->bandwidth;
}

/* What it consists of. */

static char *addresses_text(gpointer item, AldLiveCluster *cluster)
{
        const AldEntity *node = ald_node_item_entity(item);

        return node ? ald_node_addresses(node) : NULL;
}

static char *model_text(gpointer item, AldLiveCluster *cluster)
{
        const AldIdentity *identity = identity_of(item);
        GString *text = g_string_new(NULL);

        ald_parts_add_text(text, "%s", identity->vendor);
        ald_parts_add_text(text, "%s", identity->model_id);
        ald_parts_add_text(text, _("virtual machine (%s)"), identity->hypervisor);
        return g_string_free(text, text->len == 0);
}

static char *processor_text(gpointer item, AldLiveCluster *cluster)
{
        return ald_text_safe_or_null(identity_of(item)->chip_id);
}

static char *system_text(gpointer item, AldLiveCluster *cluster)
{
        return ald_text_safe_or_null(identity_of(item)->operating_system);
}

static char *version_text(gpointer item, AldLiveCluster *cluster)
{
        return ald_text_safe_or_null(identity_of(item)->alidade_version);
}

static char *id_text(gpointer item, AldLiveCluster *cluster)
{
        return g_strndup(ald_node_item_id(item), SHOWN_ID_LENGTH);
}

/* What matters most comes first, as the last ones may be out of sight. */
static const AldDataColumn columns[] = {
        { "name", N_("Name"), .look = ALD_CELL_SYMBOL, .chars = 14, .searched = true, .ages = true,
                .parts = ALD_LIVE_NODE_SET, .text = name_text, .symbol = name_symbol, .is_strong = is_own,
                .row_label = row_label },
        { "state", N_("State"), .look = ALD_CELL_SYMBOL, .chars = 16, .searched = true, .ages = true,
                .parts = ALD_LIVE_FIGURES, .text = state_text, .number = state_number,
                .symbol = state_symbol },
        { "memory", N_("Memory"), .look = ALD_CELL_LEVEL, .chars = 16, .parts = ALD_LIVE_FIGURES,
                .text = memory_text, .number = memory_number, .level = memory_level },
        { "cpu", N_("CPU"), .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_FIGURES,
                .number = cpu_number, .format = ald_format_percent },
        { "tflops", N_("FP16 Compute"), .look = ALD_CELL_NUMBER, .chars = 10, .parts = ALD_LIVE_FIGURES,
                .text = compute_text, .number = tflops_number },
        { "bandwidth", N_("Memory Bandwidth"), .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_FIGURES,
                .number = bandwidth_number, .format = ald_format_bytes_per_second },
        { "addresses", N_("Addresses"), .chars = 24, .searched = true, .parts = ALD_LIVE_FIGURES,
                .text = addresses_text },
        { "gpus", N_("GPUs"), .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_FIGURES,
                .text = gpus_text, .number = gpus_number },
        { "gpu-load", N_("GPU Load"), .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_FIGURES,
                .text = gpu_load_text, .number = gpu_load_number },
        { "temperature", N_("Temperature"), .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_FIGURES,
                .number = (double (*)(gpointer)) ald_node_item_millicelsius, .format = ald_format_celsius },
        { "power", N_("Power"), .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_FIGURES,
                .number = power_number, .format = ald_format_watts },
        { "model", N_("Model"), .chars = 22, .expands = true, .searched = true, .parts = ALD_LIVE_FIGURES,
                .text = model_text },
        { "processor", N_("Processor"), .chars = 22, .searched = true, .parts = ALD_LIVE_FIGURES,
                .text = processor_text },
        { "system", N_("Operating System"), .chars = 24, .searched = true, .parts = ALD_LIVE_FIGURES,
                .text = system_text },
        { "version", N_("Alidade"), N_("Version of Alidade"), .chars = 8, .searched = true,
                .parts = ALD_LIVE_FIGURES, .text = version_text },
        { "id", N_("ID"), .chars = SHOWN_ID_LENGTH, .hidden = true, .searched = true,
                .parts = ALD_LIVE_NODE_SET, .text = id_text },
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

static void add_probes(GMenu *section, gpointer item, AldLiveCluster *cluster)
{
        if (is_own(item, cluster)) {
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
        add_probes(probes, item, cluster);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(probes));
        if (ald_node_item_presence(item) != ALD_ITEM_PRESENCE_OFFLINE)
                return;
        ald_menu_add(forget, _("Forget…"), "win.forget", g_variant_new_string(id));
        g_menu_append_section(menu, NULL, G_MENU_MODEL(forget));
}

static const AldDataTableKind kind = {
        .label = N_("Nodes"),
        .columns = columns,
        .n_columns = G_N_ELEMENTS(columns),
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
