/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/live/cluster-devices.h"
#include "clients/common/columns/device-rows.h"
#include "clients/desktop/live/item-list.h"

struct AldClusterDevices {
        AldModel *model;
        AldItemList *items;
        GHashTable *n_devices; /* id of a node → number of its devices in the list */
        AldDeviceItem *whole;  /* the last one that is no part, while items are made or updated */
};

typedef struct Source {
        AldNodeItem *node;
        AldDeviceRow *row;
} Source;

static char *key_of(AldNodeItem *node, const AldDeviceRow *row)
{
        return g_strconcat(ald_node_item_id(node), "/", ald_node_device_id(&row->device), NULL);
}

static char *key_of_source(const void *data)
{
        const Source *source = data;

        return key_of(source->node, source->row);
}

static gpointer make(const void *data, void *userdata)
{
        const Source *source = data;
        AldClusterDevices *list = userdata;
        AldDeviceItem *item = ald_device_item_new(
                source->node, source->row, source->row->is_part ? list->whole : NULL);

        if (!source->row->is_part)
                list->whole = item;
        return item;
}

static void update_item(AldClusterDevices *list, AldDeviceItem *item, const AldDeviceRow *row)
{
        ald_device_item_update(item, row, row->is_part ? list->whole : NULL);
        if (!row->is_part)
                list->whole = item;
}

static void update(gpointer item, const void *data, void *userdata)
{
        update_item(userdata, item, ((const Source *) data)->row);
}

static const AldItemListType list_type = { make, key_of_source, update };

AldClusterDevices *ald_cluster_devices_new(AldModel *model)
{
        AldClusterDevices *list = g_new0(AldClusterDevices, 1);

        list->model = model;
        list->items = ald_item_list_new(ALD_TYPE_DEVICE_ITEM, &list_type);
        list->n_devices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return list;
}

void ald_cluster_devices_free(AldClusterDevices *list)
{
        if (!list)
                return;
        ald_item_list_free(list->items);
        g_hash_table_unref(list->n_devices);
        g_free(list);
}

static void add_node(AldClusterDevices *list, GArray *rows, AldNodeItem *node)
{
        const AldEntity *entity = ald_node_item_entity(node);

        if (entity)
                ald_device_rows_add(rows, list->model, entity, (double) g_get_real_time());
}

void ald_cluster_devices_fill(AldClusterDevices *list, GListModel *nodes)
{
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldDeviceRow));
        g_autoptr(GArray) devices = g_array_new(FALSE, FALSE, sizeof(Source));
        g_autoptr(GPtrArray) sources = g_ptr_array_new();

        g_hash_table_remove_all(list->n_devices);
        for (guint i = 0; i < g_list_model_get_n_items(nodes); i++) {
                /* The list of nodes keeps the item. */
                g_autoptr(AldNodeItem) node = g_list_model_get_item(nodes, i);
                guint before = rows->len;

                add_node(list, rows, node);
                g_hash_table_insert(list->n_devices, g_strdup(ald_node_item_id(node)),
                        GUINT_TO_POINTER(rows->len - before));
                g_array_set_size(devices, rows->len);
                for (guint k = before; k < rows->len; k++)
                        g_array_index(devices, Source, k).node = node;
        }
        for (guint i = 0; i < rows->len; i++) {
                Source *source = &g_array_index(devices, Source, i);

                source->row = &g_array_index(rows, AldDeviceRow, i);
                g_ptr_array_add(sources, source);
        }
        ald_item_list_update(list->items, sources, list);
}

bool ald_cluster_devices_update(AldClusterDevices *list, AldNodeItem *node)
{
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldDeviceRow));

        add_node(list, rows, node);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(list->n_devices, ald_node_item_id(node))) != rows->len)
                return false;
        for (guint i = 0; i < rows->len; i++) {
                const AldDeviceRow *row = &g_array_index(rows, AldDeviceRow, i);
                g_autofree char *key = key_of(node, row);
                AldDeviceItem *item = ald_item_list_get(list->items, key);

                if (!item)
                        return false;
                update_item(list, item, row);
        }
        return true;
}

GListModel *ald_cluster_devices_model(AldClusterDevices *list)
{
        return ald_item_list_model(list->items);
}
