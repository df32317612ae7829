/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/topology/graph-device.h"

#define HOST "host"

static const AldBackends *backends_of(const AldNode *node)
{
        return node ? ald_record_as(ald_node_record(node, ALD_KIND_BACKENDS), BACKENDS, AldBackends) : NULL;
}

void ald_device_joins_foreach(const AldNode *node, AldDeviceJoinFunc func, void *userdata)
{
        const AldBackends *backends = backends_of(node);

        for (size_t i = 0; backends && i < backends->joins.n; i++) {
                const AldDeviceJoin *join = ald_rows_at(&backends->joins, i);

                if (join->device && join->peer && join->kind &&
                        ald_rows_find(&backends->devices, join->device) &&
                        (g_str_equal(join->peer, HOST) || ald_rows_find(&backends->devices, join->peer)))
                        func(join, userdata);
        }
}

/* The figures of the device, if the peer is the host; NULL without any. */
static const AldComputeDevice *figures_of(const AldNode *node, const char *device, const char *peer)
{
        const AldCompute *compute = node ? ald_record_as(ald_node_record(node, ALD_KIND_COMPUTE), COMPUTE,
                                                   AldCompute)
                                         : NULL;
        const AldComputeDevice *row;

        if (!compute || !g_str_equal(peer, HOST))
                return NULL;
        row = ald_rows_find(&compute->devices, device);
        return row && (row->host_to_device_bytes_per_second != ALD_ABSENT_UINT64 ||
                              row->device_to_host_bytes_per_second != ALD_ABSENT_UINT64)
                       ? row
                       : NULL;
}

/* The compute probe measures devices that have memory of their own. */
bool ald_device_join_is_measured(const AldNode *node, const char *device, const char *peer)
{
        const AldBackends *backends = backends_of(node);
        const AldBackend *row = backends ? ald_rows_find(&backends->devices, device) : NULL;

        return !g_str_equal(peer, HOST) || !row || !row->open_cl_platform || row->unified == 1 ||
               figures_of(node, device, peer);
}

/* Absent stays absent, and so does what no link carries. */
static uint64_t to_bits(uint64_t bytes)
{
        return bytes > UINT64_MAX / 8 ? ALD_ABSENT_UINT64 : bytes * 8;
}

void ald_device_join_describe(
        const AldNode *node, const char *id, const char *device, const char *peer, bool back, AldEdgeRow *row)
{
        const AldBackends *backends = backends_of(node);
        const AldDeviceJoin *join = backends ? ald_rows_find(&backends->joins, id) : NULL;
        const AldComputeDevice *figures = figures_of(node, device, peer);

        if (join) {
                row->negotiated_bits_per_second = join->bits_per_second;
                row->through = join->through;
                row->links = join->links;
                row->lanes = join->lanes;
        }
        if (!figures)
                return;
        row->bits_per_second = to_bits(
                back ? figures->host_to_device_bytes_per_second : figures->device_to_host_bytes_per_second);
        row->interval = back ? figures->host_to_device_interval : figures->device_to_host_interval;
        row->measured_usec = figures->measured_usec;
        row->flags = figures->flags;
        row->prober = row->source;
}
