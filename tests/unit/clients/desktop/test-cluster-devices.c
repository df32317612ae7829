/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/desktop/live/cluster-devices.h"
#include "clients/desktop/tables/column-sorter.h"

#define FIRST "00000000000000000000000000000001"
#define SECOND "00000000000000000000000000000002"
#define MAX_DEVICES 4u

/* A model of two nodes, of which the first has a device with two parts and another one. */
typedef struct Fixture {
        AldModel *model;
        GListStore *nodes;
        AldClusterDevices *list;
        double usage[MAX_DEVICES];
} Fixture;

static const char *const ids[] = { "0000:01:00.0", "0000:01:00.0/1-0", "0000:01:00.0/2-0", "0000:02:00.0" };

static void put(Fixture *fixture, const char *node, AldKind kind, const void *fields)
{
        g_autoptr(AldRecord) record = NULL;

        g_assert_cmpint(ald_record_new(kind, fields, &record), ==, 0);
        g_assert_cmpint(ald_model_put(fixture->model, node, record, NULL), ==, 0);
}

static void put_devices(Fixture *fixture, const char *node, size_t n)
{
        AldBackends backends = ALD_BACKENDS_INIT;
        AldBackend rows[MAX_DEVICES];

        for (size_t i = 0; i < n; i++) {
                rows[i] = (AldBackend) ALD_BACKEND_INIT;
                rows[i].id = ids[i];
                rows[i].class = "gpu";
                rows[i].parent = i == 1 || i == 2 ? ids[0] : NULL;
        }
        backends.devices = (AldRows){ &ald_backend_struct, rows, n };
        put(fixture, node, ALD_KIND_BACKENDS, &backends);
}

static void put_usage(Fixture *fixture, const char *node, size_t n)
{
        AldSystem system = ALD_SYSTEM_INIT;
        AldDevice rows[MAX_DEVICES];

        for (size_t i = 0; i < n; i++) {
                rows[i] = (AldDevice) ALD_DEVICE_INIT;
                rows[i].id = ids[i];
                rows[i].usage = fixture->usage[i];
        }
        system.devices = (AldRows){ &ald_device_struct, rows, n };
        put(fixture, node, ALD_KIND_SYSTEM, &system);
}

static void add_node(Fixture *fixture, const char *id)
{
        g_autoptr(AldNodeItem) item = ald_node_item_new(fixture->model, id);

        g_list_store_append(fixture->nodes, item);
}

static void set_up(Fixture *fixture, gconstpointer data)
{
        fixture->model = ald_model_new();
        fixture->nodes = g_list_store_new(ALD_TYPE_NODE_ITEM);
        fixture->list = ald_cluster_devices_new(fixture->model);
        put_devices(fixture, FIRST, 4);
        put_usage(fixture, FIRST, 4);
        put_devices(fixture, SECOND, 1);
        add_node(fixture, FIRST);
        add_node(fixture, SECOND);
        g_assert_cmpuint(g_list_model_get_n_items(ald_cluster_devices_model(fixture->list)), ==, 0);
        ald_cluster_devices_fill(fixture->list, G_LIST_MODEL(fixture->nodes));
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        ald_cluster_devices_free(fixture->list);
        g_object_unref(fixture->nodes);
        ald_model_free(fixture->model);
}

static AldNodeItem *node_at(Fixture *fixture, guint i)
{
        g_autoptr(AldNodeItem) node = g_list_model_get_item(G_LIST_MODEL(fixture->nodes), i);

        return node; /* the list keeps it */
}

static AldDeviceItem *item_at(GListModel *items, guint i)
{
        g_autoptr(AldDeviceItem) item = g_list_model_get_item(items, i);

        return item;
}

/* Returns the ids of the devices, without what they have in common. */
static char *names_of(GListModel *items)
{
        GString *names = g_string_new(NULL);

        for (guint i = 0; i < g_list_model_get_n_items(items); i++) {
                AldDeviceItem *item = item_at(items, i);
                bool first = strcmp(ald_node_item_id(ald_device_item_node(item)), FIRST) == 0;

                g_string_append_printf(names, "%s%s:%s", i > 0 ? " " : "", first ? "1" : "2",
                        ald_node_device_id(&ald_device_item_row(item)->device) + strlen("0000:"));
        }
        return g_string_free(names, FALSE);
}

static void count(guint *n)
{
        ++*n;
}

static void test_order(Fixture *fixture, gconstpointer data)
{
        GListModel *items = ald_cluster_devices_model(fixture->list);
        g_autofree char *names = names_of(items);

        g_assert_cmpstr(names, ==, "1:01:00.0 1:01:00.0/1-0 1:01:00.0/2-0 1:02:00.0 2:01:00.0");
        g_assert_true(ald_device_item_whole(item_at(items, 2)) == item_at(items, 0));
        g_assert_true(ald_device_item_whole(item_at(items, 3)) == item_at(items, 3));
}

/* A change of the name alone is one as well, since a row shows it. */
static void test_changes(Fixture *fixture, gconstpointer data)
{
        GListModel *items = ald_cluster_devices_model(fixture->list);
        guint changes = 0;

        g_signal_connect_swapped(item_at(items, 3), "changed", G_CALLBACK(count), &changes);
        fixture->usage[3] = 50;
        put_usage(fixture, FIRST, 4);
        g_assert_true(ald_cluster_devices_update(fixture->list, node_at(fixture, 0)));
        g_assert_cmpuint(changes, ==, 1);
        g_assert_cmpfloat(ald_device_item_row(item_at(items, 3))->figures.usage, ==, 50);
        ald_cluster_devices_fill(fixture->list, G_LIST_MODEL(fixture->nodes));
        g_assert_cmpuint(changes, ==, 2);
}

/* Between a change and the update, when the model has let go of the record. */
static void test_a_row_keeps_its_records(Fixture *fixture, gconstpointer data)
{
        AldDeviceItem *item = item_at(ald_cluster_devices_model(fixture->list), 0);

        ald_model_remove(fixture->model, FIRST, "Node1.Backends");
        ald_model_remove(fixture->model, FIRST, "Node1.System");
        g_assert_cmpstr(ald_node_device_id(&ald_device_item_row(item)->device), ==, ids[0]);
        g_assert_null(ald_device_item_row(item)->node);
}

static void test_devices_come_and_go(Fixture *fixture, gconstpointer data)
{
        GListModel *items = ald_cluster_devices_model(fixture->list);
        AldDeviceItem *kept = item_at(items, 0);

        put_devices(fixture, SECOND, 3);
        g_assert_false(ald_cluster_devices_update(fixture->list, node_at(fixture, 1)));
        ald_cluster_devices_fill(fixture->list, G_LIST_MODEL(fixture->nodes));
        g_assert_cmpuint(g_list_model_get_n_items(items), ==, 7);
        g_assert_true(item_at(items, 0) == kept);
        put_devices(fixture, SECOND, 0);
        g_assert_false(ald_cluster_devices_update(fixture->list, node_at(fixture, 1)));
        ald_cluster_devices_fill(fixture->list, G_LIST_MODEL(fixture->nodes));
        g_assert_cmpuint(g_list_model_get_n_items(items), ==, 4);
}

static void test_an_offline_node_has_no_samples(Fixture *fixture, gconstpointer data)
{
        AldDeviceItem *item = item_at(ald_cluster_devices_model(fixture->list), 0);
        guint changes = 0;

        g_signal_connect_swapped(item, "changed", G_CALLBACK(count), &changes);
        put(fixture, FIRST, ALD_KIND_PRESENCE,
                &(AldPresence){ .state = "offline",
                        .since_usec = ALD_ABSENT_UINT64,
                        .clock_offset_usec = ALD_ABSENT_INT64 });
        g_assert_true(ald_cluster_devices_update(fixture->list, node_at(fixture, 0)));
        g_assert_cmpuint(changes, ==, 1);
        g_assert_true(isnan(ald_device_item_row(item)->figures.usage));
}

static double usage_of(gpointer item)
{
        return ald_device_item_row(item)->figures.usage;
}

static gpointer whole_of(gpointer item)
{
        return ald_device_item_whole(item);
}

/* Ascending, so the device with parts is the last one with a value. */
static void test_parts_stay_below_their_device(Fixture *fixture, gconstpointer data)
{
        static const AldDataColumn column = { .number = usage_of, .whole = whole_of };
        static const double usage[] = { 90, 70, 20, 30 };
        g_autoptr(AldLiveCluster) cluster = ald_live_cluster_new(NULL);
        g_autoptr(GtkSortListModel) sorted = NULL;
        g_autofree char *names = NULL;

        memcpy(fixture->usage, usage, sizeof usage);
        put_usage(fixture, FIRST, 4);
        g_assert_true(ald_cluster_devices_update(fixture->list, node_at(fixture, 0)));
        sorted = gtk_sort_list_model_new(g_object_ref(ald_cluster_devices_model(fixture->list)),
                GTK_SORTER(ald_column_sorter_new(&column, cluster)));
        names = names_of(G_LIST_MODEL(sorted));
        g_assert_cmpstr(names, ==, "1:02:00.0 1:01:00.0 1:01:00.0/2-0 1:01:00.0/1-0 2:01:00.0");
}

static void add(const char *path, void (*test)(Fixture *, gconstpointer))
{
        g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        add("/desktop/cluster-devices/order", test_order);
        add("/desktop/cluster-devices/changes", test_changes);
        add("/desktop/cluster-devices/records", test_a_row_keeps_its_records);
        add("/desktop/cluster-devices/come-and-go", test_devices_come_and_go);
        add("/desktop/cluster-devices/offline", test_an_offline_node_has_no_samples);
        add("/desktop/cluster-devices/parts", test_parts_stay_below_their_device);
        return g_test_run();
}
