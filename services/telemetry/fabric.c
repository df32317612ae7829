/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/sysroot.h"
#include "services/telemetry/device-watch.h"
#include "services/telemetry/fabric-rows.h"
#include "services/telemetry/fabric.h"
#include "state/record.h"

/* The kernel makes and drops GIDs in a worker of its own, after it has told of the address. */
#define SETTLE_MSEC 200u

struct AldFabricCollector {
        int root;
        bool any;
        void (*changed)(void *userdata);
        void *userdata;
        AldFabricRows *rows;
        AldDeviceWatch *watch;
        guint settle_source;
};

static AldFabricRows *rows_new(int root)
{
        AldFabricRows *rows = g_new(AldFabricRows, 1);

        *rows = (AldFabricRows){
                .root = root,
                .strings = g_string_chunk_new(256),
                .lists = g_ptr_array_new_with_free_func(g_free),
                .rdma_ports = g_array_new(FALSE, FALSE, sizeof(AldRdmaPort)),
                .domains = g_array_new(FALSE, FALSE, sizeof(AldThunderboltDomain)),
                .connections = g_array_new(FALSE, FALSE, sizeof(AldThunderboltPort)),
        };
        return rows;
}

static void rows_free(AldFabricRows *rows)
{
        g_array_unref(rows->rdma_ports);
        g_array_unref(rows->domains);
        g_array_unref(rows->connections);
        g_ptr_array_unref(rows->lists);
        g_string_chunk_free(rows->strings);
        g_free(rows);
}

/* What is not there, what the driver does not know, and what has just gone. */
static bool is_usual(int error)
{
        return error == -ENOENT || error == -ENOTDIR || error == -ENODATA || error == -ENODEV ||
               error == -EINVAL;
}

const char *ald_fabric_read(AldFabricRows *rows, const char *directory, const char *file)
{
        g_autofree char *path = g_strdup_printf("%s/%s", directory, file), *text = NULL;
        int r = ald_sysroot_read_string(rows->root, path, &text);

        if (r < 0) {
                if (!is_usual(r))
                        g_warning("%s: %s", path, g_strerror(-r));
                return NULL;
        }
        return g_string_chunk_insert_const(rows->strings, text);
}

const char *ald_fabric_first_in(AldFabricRows *rows, const char *directory)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(rows->root, directory, &names) < 0 || !names[0])
                return NULL;
        return g_string_chunk_insert_const(rows->strings, names[0]);
}

static void look(AldFabricCollector *collector)
{
        g_clear_pointer(&collector->rows, rows_free);
        collector->rows = rows_new(collector->root);
        ald_fabric_read_rdma(collector->rows);
        ald_fabric_read_thunderbolt(collector->rows);
        if (collector->rows->rdma_ports->len > 0 || collector->rows->domains->len > 0)
                collector->any = true;
}

/* What has not changed is not told again by who sends the record. */
static void look_and_tell(void *userdata)
{
        AldFabricCollector *collector = userdata;

        look(collector);
        if (collector->any)
                collector->changed(collector->userdata);
}

static gboolean on_settled(gpointer userdata)
{
        AldFabricCollector *collector = userdata;

        collector->settle_source = 0;
        look_and_tell(collector);
        return G_SOURCE_REMOVE;
}

void ald_fabric_collector_look_soon(AldFabricCollector *collector)
{
        if (collector->settle_source == 0)
                collector->settle_source = g_timeout_add(SETTLE_MSEC, on_settled, collector);
}

bool ald_fabric_collector_any(const AldFabricCollector *collector)
{
        return collector->any;
}

static void fill_rows(AldRows *rows, const GArray *array)
{
        rows->items = array->data;
        rows->n = array->len;
}

void ald_fabric_collector_fill(const AldFabricCollector *collector, AldFabric *ret)
{
        *ret = (AldFabric) ALD_FABRIC_INIT;
        fill_rows(&ret->rdma_ports, collector->rows->rdma_ports);
        fill_rows(&ret->thunderbolt_domains, collector->rows->domains);
        fill_rows(&ret->thunderbolt_ports, collector->rows->connections);
}

AldFabricCollector *ald_fabric_collector_new(int root, void (*changed)(void *userdata), void *userdata)
{
        static const char *const subsystems[] = { "infiniband", "thunderbolt", "net", NULL };
        AldFabricCollector *collector = g_new0(AldFabricCollector, 1);

        collector->root = root;
        collector->changed = changed;
        collector->userdata = userdata;
        look(collector);
        collector->watch = ald_device_watch_new(
                "RDMA devices and Thunderbolt hosts", subsystems, look_and_tell, collector);
        return collector;
}

void ald_fabric_collector_free(AldFabricCollector *collector)
{
        if (!collector)
                return;
        g_clear_handle_id(&collector->settle_source, g_source_remove);
        ald_device_watch_free(collector->watch);
        rows_free(collector->rows);
        g_free(collector);
}
