/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What it costs to find out what is due, in a large cluster of which all is known: with sockets alone, and
 * with two ports of RDMA over Ethernet on each node. */
#include <stdio.h>
#include <time.h>

#include "state/link/peer-sample.h"
#include "state/planner/planner.h"

#define NODES 10000u
#define RAILS 2u
#define ROUNDS 9u
#define TTL (UINT64_C(300) * 1000 * 1000)
#define PERIOD UINT64_C(5666666)
#define NOW (PERIOD * TTL)

static uint64_t processor_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static AldId id_of(unsigned node)
{
        return (AldId){ .bytes = { [2] = (uint8_t) (node >> 8), [3] = (uint8_t) node, [15] = 1 } };
}

static void put(AldStore *store, unsigned node, AldKind kind, const char *key, const void *fields)
{
        const AldId id = id_of(node);
        g_autoptr(AldRecord) record = NULL;
        int r;

        if (ald_record_new(kind, fields, &record) < 0)
                g_error("A record of the benchmark cannot be made");
        if (ald_kinds[kind].local)
                r = ald_store_put_about(store, &id, kind, record, NOW, 1);
        else if (ald_id_equal(&id, &ald_store_local_node(store)->id))
                r = ald_store_put_local(store, kind, key, record, NOW, 1);
        else
                r = ald_store_put(store, &(AldUpdate){ id, kind, key, { 1, 1 }, NOW, record }, 1);
        g_assert(r == ALD_PUT_TAKEN);
}

static void put_node(AldStore *store, unsigned node)
{
        char texts[RAILS][6][48];
        const char *addresses[RAILS][3] = { { NULL } }, *gids[RAILS][2] = { { NULL } };
        AldInterface interfaces[RAILS];
        AldRdmaPort ports[RAILS];
        AldNetwork network = ALD_NETWORK_INIT;
        AldFabric fabric = ALD_FABRIC_INIT;
        AldPresence presence = ALD_PRESENCE_INIT;

        for (unsigned i = 0; i < RAILS; i++) {
                g_snprintf(texts[i][0], 48, "eth%u", i);
                g_snprintf(texts[i][1], 48, "10.%u.%u.%u/16", i, node / 250, node % 250 + 1);
                g_snprintf(texts[i][2], 48, "fe80::%u:%x/64", i + 1, node);
                g_snprintf(texts[i][3], 48, "mlx5_%u.1", i);
                g_snprintf(texts[i][4], 48, "0000:%u:0000:%04x", i, node);
                g_snprintf(texts[i][5], 48, "1 rocev2 fe80::%u:%x eth%u", i + 1, node, i);
                addresses[i][0] = texts[i][1];
                addresses[i][1] = texts[i][2];
                gids[i][0] = texts[i][5];
                interfaces[i] = (AldInterface) ALD_INTERFACE_INIT;
                interfaces[i].id = texts[i][0];
                interfaces[i].type = "ethernet";
                interfaces[i].addresses = addresses[i];
                ports[i] = (AldRdmaPort) ALD_RDMA_PORT_INIT;
                ports[i].id = texts[i][3];
                ports[i].node_guid = ports[i].port_guid = texts[i][4];
                ports[i].link_layer = "ethernet";
                ports[i].state = "active";
                ports[i].interface = texts[i][0];
                ports[i].gids = gids[i];
        }
        network.interfaces.items = interfaces;
        fabric.rdma_ports.items = ports;
        network.interfaces.n = fabric.rdma_ports.n = RAILS;
        presence.state = "online";
        put(store, node, ALD_KIND_NETWORK, "", &network);
        put(store, node, ALD_KIND_FABRIC, "", &fabric);
        put(store, node, ALD_KIND_PRESENCE, "", &presence);
}

/* By link-local addresses, so that both are on one link. */
static void put_row(AldStore *store, unsigned node, unsigned peer, unsigned rail)
{
        const AldId source = id_of(node), sink = id_of(peer);
        char source_id[ALD_ID_STRING_SIZE], sink_id[ALD_ID_STRING_SIZE], address[48], interface[8], key[128];
        AldLinkSocket row = ALD_LINK_SOCKET_INIT;

        g_snprintf(address, sizeof address, "fe80::%u:%x", rail + 1, peer);
        g_snprintf(interface, sizeof interface, "eth%u", rail);
        row.source = ald_id_format(&source, source_id);
        row.sink = ald_id_format(&sink, sink_id);
        row.sink_address = address;
        row.source_interface = interface;
        row.upload.bits_per_second = UINT64_C(90000000000);
        row.measured_usec = NOW - 1;
        g_snprintf(key, sizeof key, "%s,%s", sink_id, address);
        put(store, node, ALD_KIND_LINK_SOCKET, key, &row);
}

static AldStore *filled_store(void)
{
        const AldStoreLimits limits = { 1000, 14u << 20, 20000, 4096, (size_t) 4 << 30 };
        const AldId local = id_of(NODES / 2);
        AldStore *store = ald_store_new(&local, 1, &limits);

        for (unsigned node = 1; node <= NODES; node++)
                put_node(store, node);
        /* Over sockets each has measured those whose turn it is. */
        for (unsigned node = 1; node <= NODES; node++) {
                g_autoptr(GArray) peers = ald_peer_sample_pick(NODES, node - 1, PERIOD);

                for (guint i = 0; i < peers->len * RAILS; i++)
                        put_row(store, node, (unsigned) g_array_index(peers, size_t, i / RAILS) + 1,
                                i % RAILS);
        }
        return store;
}

static int compare(const void *a, const void *b)
{
        double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

static double median_ms(AldStore *store, AldKind without, unsigned *found)
{
        double figures[ROUNDS];

        for (unsigned i = 0; i < ROUNDS; i++) {
                AldPlannerInput input = {
                        .now_realtime = NOW + TTL - 1,
                        .now = 2,
                        .bytes_per_hour = UINT64_MAX,
                        .max = 16,
                };
                g_autoptr(GArray) probes = NULL;
                uint64_t start;

                input.without[without] = true;
                start = processor_ns();
                probes = ald_planner_compute(store, &input);
                figures[i] = (double) (processor_ns() - start) / 1e6;
                *found += probes->len;
        }
        qsort(figures, ROUNDS, sizeof figures[0], compare);
        return figures[ROUNDS / 2];
}

int main(void)
{
        g_autoptr(AldStore) store = filled_store();
        unsigned n_sockets = 0, n_rdma = 0;
        double sockets = median_ms(store, ALD_KIND_LINK_RDMA, &n_sockets);
        double rdma = median_ms(store, ALD_KIND_LINK_SOCKET, &n_rdma);

        /* What finds nothing has looked at nothing. */
        g_assert(n_sockets > 0 && n_rdma > 0);
        printf("{\"plan_sockets_ms_at_10000_nodes\": %.2f, \"plan_rdma_ms_at_10000_nodes\": %.2f}\n", sockets,
                rdma);
        return 0;
}
