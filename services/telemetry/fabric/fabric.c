/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/fabric/fabric.h"
#include "record/record.h"
#include "services/telemetry/device-watch.h"
#include "services/telemetry/fabric/fabric-rdma.h"
#include "services/telemetry/fabric/fabric-thunderbolt.h"

/* The kernel adds and removes GIDs in a separate worker, after it has reported the address. */
#define SETTLE_MSEC 200u

struct AldFabricCollector {
        int root;
        bool any;
        unsigned told_left_out, told_gids_left_out;
        void (*changed)(void *userdata);
        void *userdata;
        AldFabricRows *rows;
        AldDeviceWatch *watch;
        guint settle_source;
};

/* Logs what is left out, once until it changes. */
static void tell_left_out(AldFabricCollector *collector)
{
        const AldFabricRows *rows = collector->rows;

        if (rows->left_out == collector->told_left_out &&
                rows->gids_left_out == collector->told_gids_left_out)
                return;
        collector->told_left_out = rows->left_out;
        collector->told_gids_left_out = rows->gids_left_out;
        if (rows->left_out > 0 || rows->gids_left_out > 0)
                g_warning("The fabric record leaves out %u RDMA ports or Thunderbolt devices beyond the "
                          "limit of "
                          "%u each, and %u GIDs",
                        rows->left_out, ALD_FABRIC_ROWS_MAX, rows->gids_left_out);
        else
                g_message("The fabric record is complete again");
}

static void look(AldFabricCollector *collector)
{
        g_clear_pointer(&collector->rows, ald_fabric_rows_free);
        collector->rows = ald_fabric_rows_new(collector->root);
        ald_fabric_read_rdma(collector->rows);
        ald_fabric_read_thunderbolt(collector->rows);
        tell_left_out(collector);
        if (collector->rows->rdma_ports->len > 0 || collector->rows->domains->len > 0)
                collector->any = true;
}

/* The sender of the record ignores unchanged contents. */
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
        static const char *const subsystems[] = { "infiniband", "infiniband_verbs", "thunderbolt", "net",
                NULL };
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
        ald_fabric_rows_free(collector->rows);
        g_free(collector);
}
