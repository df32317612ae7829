/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/graph-device.h"

#define HOST "host"

static const AldBackends *backends_of(const AldNode *node)
{
        return ald_node_as(node, BACKENDS, AldBackends);
}

void ald_device_joins_foreach(const AldNode *node, AldDeviceJoinFunc func, void *userdata)
{
        const AldBackends *backends = backends_of(node);

        for (size_t i = 0; backends && i < backends->joins.n; i++) {
                const AldDeviceJoin *join = ald_rows_at(&backends->joins, i);

                if (join->device && join->peer && join->kind && !g_str_equal(join->device, HOST) &&
                        !g_str_equal(join->device, join->peer) &&
                        ald_rows_find(&backends->devices, join->device) &&
                        (g_str_equal(join->peer, HOST) || ald_rows_find(&backends->devices, join->peer)))
                        func(join, userdata);
        }
}

static bool leads_to_host(const AldDeviceJoin *join)
{
        return g_strcmp0(join->peer, HOST) == 0;
}

static bool is_kind(const AldDeviceJoin *join, AldDeviceJoinKind kind)
{
        return g_strcmp0(join->kind, ald_device_join_kind_to_string(kind)) == 0;
}

/* Returns whether copies between the device and the host go over the join: over XGMI if there is any. */
static bool carries_copies(const AldBackends *backends, const AldDeviceJoin *join)
{
        if (!leads_to_host(join))
                return false;
        for (size_t i = 0; i < backends->joins.n; i++) {
                const AldDeviceJoin *other = ald_rows_at(&backends->joins, i);

                if (other != join && g_strcmp0(other->device, join->device) == 0 && leads_to_host(other) &&
                        is_kind(other, ALD_DEVICE_JOIN_KIND_XGMI))
                        return is_kind(join, ALD_DEVICE_JOIN_KIND_XGMI);
        }
        return true;
}

static const AldDeviceJoin *find_join(const AldNode *node, const char *id)
{
        const AldBackends *backends = backends_of(node);

        return backends ? ald_rows_find(&backends->joins, id) : NULL;
}

/* Returns the figures of the device if its copies go over the join, else NULL. */
static const AldComputeDevice *figures_of(const AldNode *node, const AldDeviceJoin *join)
{
        const AldCompute *compute = ald_node_as(node, COMPUTE, AldCompute);

        return compute && join && carries_copies(backends_of(node), join)
                       ? ald_rows_find(&compute->devices, join->device)
                       : NULL;
}

static bool has_copies(const AldComputeDevice *figures)
{
        return figures && (figures->host_to_device_bytes_per_second != ALD_ABSENT_UINT64 ||
                                  figures->device_to_host_bytes_per_second != ALD_ABSENT_UINT64);
}

/* The compute probe measures devices that have memory of their own. */
bool ald_device_join_is_measured(const AldNode *node, const char *id)
{
        const AldDeviceJoin *join = find_join(node, id);
        const AldBackend *device = join ? ald_rows_find(&backends_of(node)->devices, join->device) : NULL;

        return !device || !device->open_cl_platform || device->unified == 1 ||
               !carries_copies(backends_of(node), join) || has_copies(figures_of(node, join));
}

/* An absent value stays absent, and one that no link carries becomes absent. */
static uint64_t to_bits(uint64_t bytes)
{
        return bytes > ALD_INTEGER_MAX / 8 ? ALD_ABSENT_UINT64 : bytes * 8;
}

/* A failure names the metrics that it did not measure, whose figures are older. */
static bool has_failed(const AldComputeDevice *figures)
{
        return figures->failure &&
               (strstr(figures->failure, "to-device") || strstr(figures->failure, "to-host"));
}

void ald_device_join_describe(const AldNode *node, const char *id, bool back, AldEdgeRow *row)
{
        const AldDeviceJoin *join = find_join(node, id);
        const AldComputeDevice *figures = figures_of(node, join);

        if (join) {
                row->negotiated_bits_per_second = join->bits_per_second;
                row->through = join->through;
                row->links = join->links;
                row->lanes = join->lanes;
        }
        if (figures && has_failed(figures)) {
                row->failure = figures->failure;
                row->failed_usec = figures->failed_usec;
        }
        if (!has_copies(figures))
                return;
        row->bits_per_second = to_bits(
                back ? figures->host_to_device_bytes_per_second : figures->device_to_host_bytes_per_second);
        row->interval = back ? figures->host_to_device_interval : figures->device_to_host_interval;
        row->measured_usec = figures->measured_usec;
        row->flags = figures->flags;
        row->prober = row->source;
}
