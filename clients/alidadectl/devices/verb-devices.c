/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/alidadectl/devices/device-table.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/columns/column-export.h"
#include "record/json.h"

typedef struct DevicesOrder {
        AldCtl ctl;
        uint64_t free_bytes; /* absent: not given */
        bool holders;
        AldColumnChoice columns;
} DevicesOrder;

typedef struct DeviceList {
        GArray *rows;
        guint n_unlisted;
        guint n_unknown; /* left out by --free, since it is not known what is free on them */
} DeviceList;

static void devices_order_clear(DevicesOrder *order)
{
        ald_column_choice_clear(&order->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DevicesOrder, devices_order_clear)

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(BYTES, "free", "SIZE", DevicesOrder, free_bytes,
                "List only devices with this much free memory, most of it first"),
        ALD_OPTION(FLAG, "holders", NULL, DevicesOrder, holders, "List who holds each device, below it"),
        ALD_OPTION_COLUMNS(NULL),
        ALD_OPTION_SORT(NULL),
        ALD_OPTION_CSV(NULL),
        ALD_OPTION_JSON("Print JSON: short (as without MODE), pretty or off"),
        ALD_OPTION_HOST("Ask another machine, over ssh"),
        ALD_OPTION_NO_PAGER,
        {},
};

const AldSynopsis ald_devices_synopsis = {
        .usage = "alidadectl devices [OPTION…] [NODE…]",
        .intro = "List the GPUs, accelerators and processors of all nodes or of these, what they do and who "
                 "holds them.",
        .outro = "SIZE is, for example, 24G or 24GiB. The most free memory is first with --sort=-free.",
        .options = options,
};

static bool is_limited(const DevicesOrder *order)
{
        return order->free_bytes != ALD_ABSENT_UINT64;
}

/* Returns the nodes of the command line, without those that are named twice; all nodes if it names none. */
static int find_nodes(AldStateSession *session, char **names, GPtrArray *nodes)
{
        const GPtrArray *all = ald_model_nodes(session->model);
        int r = ALD_EXIT_OK;

        for (guint i = 0; !names[0] && i < all->len; i++)
                g_ptr_array_add(nodes, all->pdata[i]);
        for (; *names && r == ALD_EXIT_OK; names++) {
                const AldEntity *node = NULL;

                r = ald_session_find_node(session, *names, &node);
                if (r == ALD_EXIT_OK && !g_ptr_array_find(nodes, node, NULL))
                        g_ptr_array_add(nodes, (void *) node);
        }
        return r;
}

/* Asks the service of this machine for its holders: it shows the caller more than it shares with other nodes.
 */
static void use_own_holders(const AldStateSession *session, GArray *rows)
{
        const AldEntity *node = ald_model_get(session->model, ald_model_node_id(session->model));

        for (guint i = 0; session->holders.owned && i < rows->len; i++) {
                AldDeviceRow *row = &g_array_index(rows, AldDeviceRow, i);

                if (row->node == node)
                        row->holders = &session->holders.rows;
        }
}

/* Counts the devices that --free cannot judge. A split device has free memory as soon as one part reports it,
 * so its parts are not counted. */
static void keep_free(DeviceList *list, uint64_t bytes)
{
        for (guint i = 0; i < list->rows->len; i++) {
                const AldDeviceRow *row = &g_array_index(list->rows, AldDeviceRow, i);

                list->n_unknown += row->counts && !row->is_part && isnan(row->free_bytes);
        }
        ald_device_rows_keep_free(list->rows, (double) bytes);
}

/* Returns whether the output, or its order, depends on who holds a device. */
static bool names_holders(const DevicesOrder *order)
{
        const char *by = order->ctl.sort ?: "";

        if (g_str_equal(by + (*by == '-'), ald_device_columns[ALD_DEVICE_COLUMN_HELD_BY].id))
                return true;
        for (guint i = 0; i < order->columns.shown->len; i++)
                if (g_array_index(order->columns.shown, const AldListColumn *, i) ==
                        &ald_device_columns[ALD_DEVICE_COLUMN_HELD_BY])
                        return true;
        return order->holders;
}

static json_t *holders_to_json(const AldDeviceRow *row)
{
        g_autoptr(GPtrArray) holders = ald_device_row_holders(row);
        json_t *array = json_array();

        for (guint i = 0; i < holders->len; i++)
                json_array_append_new(array, ald_struct_to_json(&ald_holder_struct, holders->pdata[i]));
        return array;
}

static int print_as_json(const DevicesOrder *order, const DeviceList *list)
{
        const GArray *rows = list->rows;
        json_auto_t *object = json_object();
        json_t *devices = ald_columns_to_json(&order->columns, rows);

        for (guint i = 0; order->holders && i < rows->len; i++)
                json_object_set_new(json_array_get(devices, i), "HolderRows",
                        holders_to_json(&g_array_index(rows, AldDeviceRow, i)));
        json_object_set_new(object, "Devices", devices);
        if (list->n_unlisted > 0)
                json_object_set_new(object, "UnlistedDevices", json_integer(list->n_unlisted));
        if (list->n_unknown > 0)
                json_object_set_new(object, "UnknownFreeDevices", json_integer(list->n_unknown));
        return ald_print_json(&order->ctl, object);
}

static int print_as_text(const DevicesOrder *order, const DeviceList *list)
{
        const GArray *rows = list->rows;
        g_autoptr(AldTable) table = ald_column_table_new(&order->columns);
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        for (guint i = 0; i < rows->len; i++) {
                const AldDeviceRow *row = &g_array_index(rows, AldDeviceRow, i);

                ald_column_table_add(table, &order->columns, row);
                if (order->holders)
                        ald_device_table_add_holders(table, &order->columns, row);
        }
        ald_table_layout(table, info.columns, NULL);
        if (rows->len > 0)
                ald_table_append(out, table);
        else
                g_string_append(out, is_limited(order) ? "No device has that much free memory.\n"
                                                       : "No devices are known.\n");
        if (list->n_unknown > 0)
                g_string_append_printf(
                        out, "Not listed, since it is not known what is free: %u.\n", list->n_unknown);
        if (list->n_unlisted > 0)
                g_string_append_printf(out, "%u more devices are not listed, of nodes with more than %u.\n",
                        list->n_unlisted, ALD_NODE_DEVICES_MAX);
        return ald_print(&order->ctl, &info, out->str);
}

static int sort_rows(const DevicesOrder *order, GArray *rows)
{
        const char *by = order->ctl.sort ?: is_limited(order) ? "-free" : NULL;
        g_autofree char *problem = NULL;

        if (!by || ald_device_rows_sort(rows, by, &problem) >= 0)
                return ALD_EXIT_OK;
        ald_print_error("%s", problem);
        return ALD_EXIT_USAGE;
}

static int list_devices(const DevicesOrder *order, char **names)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(GPtrArray) nodes = g_ptr_array_new();
        g_autoptr(GArray) rows = NULL;
        DeviceList list = {};
        int r;

        session.with_holders = names_holders(order);
        r = ald_session_load(&session, &order->ctl, true);
        if (r == ALD_EXIT_OK)
                r = find_nodes(&session, names, nodes);
        if (r != ALD_EXIT_OK)
                return r;
        list.rows = rows = ald_device_table_rows(session.model, nodes, ald_now(), &list.n_unlisted);
        use_own_holders(&session, rows);
        if (is_limited(order))
                keep_free(&list, order->free_bytes);
        r = sort_rows(order, rows);
        if (r != ALD_EXIT_OK)
                return r;
        if (order->ctl.csv)
                return ald_column_table_export(&order->ctl, NULL, &order->columns, rows);
        return order->ctl.json ? print_as_json(order, &list) : print_as_text(order, &list);
}

/* Chooses the columns; JSON has all of them. Returns -1 if there is more to do, else an exit code. */
static int choose_columns(DevicesOrder *order)
{
        unsigned all[ALD_DEVICE_N_COLUMNS];

        if (!order->ctl.json)
                return ald_device_table_choose(&order->ctl, &order->columns);
        for (unsigned i = 0; i < ALD_DEVICE_N_COLUMNS; i++)
                all[i] = i;
        return ald_column_table_choose(
                &order->ctl, &ald_device_column_list, all, ALD_DEVICE_N_COLUMNS, &order->columns);
}

int ald_verb_devices(const AldCtl *ctl)
{
        g_auto(DevicesOrder) order = { .ctl = *ctl, .free_bytes = ALD_ABSENT_UINT64 };
        g_autofree char **words = NULL;
        int r = ald_options_read(&ald_devices_synopsis, &order, &words);

        if (r >= 0)
                return r;
        if (order.ctl.csv && (order.ctl.json || order.holders)) {
                ald_print_error("--%s and --csv exclude each other", order.ctl.json ? "json" : "holders");
                return ALD_EXIT_USAGE;
        }
        r = choose_columns(&order);
        return r >= 0 ? r : list_devices(&order, words);
}
