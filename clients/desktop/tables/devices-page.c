/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/live/device-item.h"
#include "clients/desktop/tables/data-table.h"
#include "clients/desktop/tables/devices-page.h"
#include "clients/desktop/tables/table-menus.h"
#include "clients/desktop/widgets/presence-symbol.h"

static const void *row_of(gpointer item, AldLiveCluster *cluster)
{
        return ald_device_item_row(item);
}

static gpointer whole_of(gpointer item)
{
        return ald_device_item_whole(item);
}

static AldCellSymbol name_symbol(gpointer item, AldLiveCluster *cluster)
{
        const AldDeviceRow *row = ald_device_item_row(item);

        if (row->is_part)
                return (AldCellSymbol){ "alidade-part-symbolic", _("Part of a device"), ALD_TONE_PLAIN };
        if (ald_node_device_is_processor(&row->device))
                return (AldCellSymbol){ "alidade-board-symbolic", _("Processor"), ALD_TONE_PLAIN };
        return (AldCellSymbol){ "alidade-devices-symbolic", _("Compute device"), ALD_TONE_PLAIN };
}

static AldCellSymbol state_symbol(gpointer item, AldLiveCluster *cluster)
{
        AldPresenceSymbol symbol = ald_presence_symbol(ald_device_item_node(item));

        return (AldCellSymbol){ symbol.icon, symbol.name, symbol.tone };
}

static char *row_label(gpointer item, AldLiveCluster *cluster)
{
        AldNodeItem *node = ald_device_item_node(item);
        AldTone tone;
        g_autofree char *name = ald_node_device_name(&ald_device_item_row(item)->device);
        g_autofree char *state = ald_node_item_seen(node, &tone);

        return g_strdup_printf("%s, %s, %s", name, ald_node_item_name(node), state);
}

/* The looks of the columns of the list of devices. */
static const AldDataColumn looks[ALD_DEVICE_N_COLUMNS] = {
        [ALD_DEVICE_COLUMN_NAME] = { .look = ALD_CELL_SYMBOL,
                .chars = 22,
                .expands = true,
                .searched = true,
                .ages = true,
                .parts = ALD_LIVE_DEVICE_SET,
                .symbol = name_symbol,
                .row_label = row_label },
        [ALD_DEVICE_COLUMN_NODE] = { .chars = 10, .searched = true, .parts = ALD_LIVE_DEVICE_SET },
        [ALD_DEVICE_COLUMN_STATE] = { .look = ALD_CELL_SYMBOL,
                .chars = 8,
                .searched = true,
                .ages = true,
                .parts = ALD_LIVE_DEVICES,
                .symbol = state_symbol },
        [ALD_DEVICE_COLUMN_USED_MEMORY] = { .look = ALD_CELL_LEVEL,
                .chars = 13,
                .parts = ALD_LIVE_DEVICES,
                .level = &ald_device_columns[ALD_DEVICE_COLUMN_USED] },
        [ALD_DEVICE_COLUMN_LOAD] = { .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_TEMPERATURE] = { .look = ALD_CELL_NUMBER, .chars = 5, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_POWER] = { .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_HOLDERS] = { .look = ALD_CELL_NUMBER, .chars = 6, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_HELD_BY] = { .chars = 16, .searched = true, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_THROTTLED] = { .chars = 10, .searched = true, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_TFLOPS] = { .look = ALD_CELL_NUMBER, .chars = 10, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_BANDWIDTH] = { .look = ALD_CELL_NUMBER, .chars = 9, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_AGE] = { .look = ALD_CELL_NUMBER,
                .chars = 9,
                .ages = true,
                .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_CLOCK] = { .look = ALD_CELL_NUMBER, .chars = 8, .parts = ALD_LIVE_DEVICES },
        [ALD_DEVICE_COLUMN_DRIVER] = { .chars = 14, .searched = true, .parts = ALD_LIVE_DEVICE_SET },
};

static void activate(GtkWidget *table, gpointer item)
{
        gtk_widget_activate_action(table, "win.show-device", "(ss)",
                ald_node_item_id(ald_device_item_node(item)),
                ald_node_device_id(&ald_device_item_row(item)->device));
}

static void fill_menu(GMenu *menu, gpointer item, AldLiveCluster *cluster)
{
        g_autoptr(GMenu) details = g_menu_new(), probes = g_menu_new();
        AldNodeItem *node = ald_device_item_node(item);
        const char *id = ald_node_device_id(&ald_device_item_row(item)->device);

        ald_menu_add(
                details, _("Details"), "win.show-device", g_variant_new("(ss)", ald_node_item_id(node), id));
        g_menu_append_section(menu, NULL, G_MENU_MODEL(details));
        if (ald_node_item_row(node)->is_own)
                ald_menu_add(probes, _("Measure This Device"), "win.probe-device", g_variant_new_string(id));
        g_menu_append_section(menu, NULL, G_MENU_MODEL(probes));
}

static const AldDataTableKind kind = {
        .label = N_("Devices"),
        .columns = looks,
        .n_columns = G_N_ELEMENTS(looks),
        .sorted_by = ALD_DEVICE_COLUMN_NODE,
        .list = &ald_device_column_list,
        .row = row_of,
        .whole = whole_of,
        .want = ald_live_cluster_want_devices,
        .page = { .placeholder = N_("Search devices"),
                .empty_title = N_("No Devices"),
                .empty_text = N_(
                        "No device is known. Devices appear once the telemetry service runs on a node; "
                        "“systemctl status alidade-telemetryd” there shows whether it does."),
                .empty_icon = "alidade-devices-symbolic" },
        .activate = activate,
        .fill_menu = fill_menu,
};

GtkWidget *ald_devices_page_new(AldLiveCluster *cluster)
{
        return ald_data_table_new(cluster, ald_live_cluster_devices(cluster), &kind);
}
