/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What two members cost the state service that fill their records: with failed links to each other, with the
 * names of ports of a bond that measured links lead over, and with LLDP neighbours. */
#include <stdio.h>
#include <time.h>

#include "state/alerts/alert-paths.h"
#include "state/findings/findings.h"
#include "state/topology/graph.h"
#include "tests/bench/fixture.h"

#define LINKS 4096u
#define BOND_PORTS 14000u
#define INTERFACES 300u
#define NEIGHBOURS 500u
#define LINK_LOCALS 64u
#define NOW (UINT64_C(1700000000) * 1000000)

static double cpu_ms(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double) t.tv_sec * 1000 + (double) t.tv_nsec / 1000000;
}

static AldStore *new_store(void)
{
        const AldStoreLimits limits = { 1000, 14u << 20, 20000, LINKS, (size_t) 1 << 30 };
        const AldId local = fixture_id(2);

        return ald_store_new(&local, 1, &limits);
}

static void put(AldStore *store, unsigned node, AldKind kind, const char *key, const void *fields)
{
        g_autoptr(AldRecord) record = NULL;
        AldUpdate update = { .node = fixture_id(node), .kind = kind, .key = key, .stamp = { 1, 1 } };

        g_assert(ald_record_new(kind, fields, &record) == 0);
        update.record = record;
        g_assert((ald_kinds[kind].local ? ald_store_put_about(store, &update.node, kind, record, NOW, 1)
                                        : ald_store_put(store, &update, 1)) == ALD_PUT_TAKEN);
}

static void put_online(AldStore *store, unsigned node)
{
        AldPresence presence = ALD_PRESENCE_INIT;

        presence.state = ald_presence_state_to_string(ALD_PRESENCE_STATE_ONLINE);
        put(store, node, ALD_KIND_PRESENCE, "", &presence);
}

/* Each path that the node may have to the other one, failed or measured over a bond. */
static void put_links(AldStore *store, unsigned node, bool failed)
{
        const AldId source = fixture_id(node), sink = fixture_id(!node);
        char source_text[ALD_ID_STRING_SIZE], sink_text[ALD_ID_STRING_SIZE];

        for (unsigned i = 0; i < LINKS; i++) {
                AldLinkSocket link = ALD_LINK_SOCKET_INIT;
                g_autofree char *address = g_strdup_printf("10.0.%u.%u", i / 256, i % 256);
                g_autofree char *key = NULL;

                link.source = ald_id_format(&source, source_text);
                link.sink = ald_id_format(&sink, sink_text);
                link.sink_address = address;
                link.source_interface = "bond0";
                if (failed) {
                        link.failure = "timeout";
                        link.failed_usec = NOW;
                } else {
                        link.measured_usec = NOW;
                        link.negotiated_bits_per_second = UINT64_C(10000000000);
                        link.upload.bits_per_second = 1000000;
                }
                key = g_strconcat(sink_text, ",", address, NULL);
                put(store, node, ALD_KIND_LINK_SOCKET, key, &link);
        }
}

static void put_bond(AldStore *store, unsigned node)
{
        g_auto(GStrv) ports = g_new0(char *, BOND_PORTS + 1);
        AldInterface bond = ALD_INTERFACE_INIT;
        AldNetwork network = ALD_NETWORK_INIT;

        for (unsigned i = 0; i < BOND_PORTS; i++)
                ports[i] = g_strdup_printf("%u", i);
        bond.id = "bond0";
        bond.type = ald_interface_type_to_string(ALD_INTERFACE_TYPE_BOND);
        bond.ports = (const char *const *) ports;
        network.interfaces.items = &bond;
        network.interfaces.n = 1;
        put(store, node, ALD_KIND_NETWORK, "", &network);
}

/* Neighbours that are no interface of the other node, which has as many as they are compared with. */
static void put_neighbours(AldStore *store, unsigned node)
{
        AldInterface interfaces[INTERFACES];
        AldNeighbour neighbours[NEIGHBOURS];
        char *addresses[LINK_LOCALS + 1] = {};
        AldNetwork network = ALD_NETWORK_INIT;
        g_autoptr(GStringChunk) strings = g_string_chunk_new(4096);
        char text[64];

        for (unsigned i = 0; i < INTERFACES; i++) {
                interfaces[i] = (AldInterface) ALD_INTERFACE_INIT;
                g_snprintf(text, sizeof text, "eth%u", i);
                interfaces[i].id = g_string_chunk_insert(strings, text);
        }
        for (unsigned i = 0; i < NEIGHBOURS; i++) {
                neighbours[i] = (AldNeighbour) ALD_NEIGHBOUR_INIT;
                g_snprintf(text, sizeof text, "%u", i);
                neighbours[i].id = neighbours[i].port_id = g_string_chunk_insert(strings, text);
                neighbours[i].interface = interfaces[0].id;
        }
        for (unsigned i = 0; i < LINK_LOCALS; i++) {
                g_snprintf(text, sizeof text, "fe80::%x:%x/64", node, i + 1);
                addresses[i] = g_string_chunk_insert(strings, text);
        }
        interfaces[0].type = ald_interface_type_to_string(ALD_INTERFACE_TYPE_ETHERNET);
        interfaces[0].addresses = (const char *const *) addresses;
        network.interfaces.items = interfaces;
        network.interfaces.n = INTERFACES;
        network.neighbours.items = neighbours;
        network.neighbours.n = NEIGHBOURS;
        put(store, node, ALD_KIND_NETWORK, "", &network);
}

static double time_findings(AldStore *store)
{
        const AldFindingContext context = { .real = NOW, .now = 1, .clock_is_set = true };
        double start = cpu_ms();
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, &context);

        g_assert(findings->len > 0);
        return cpu_ms() - start;
}

static double time_graph(AldStore *store)
{
        g_autoptr(AldGraph) graph = ald_graph_new(store, 1);
        double start = cpu_ms();

        ald_graph_update(graph);
        return cpu_ms() - start;
}

static gboolean collect_node(AldNode *node, void *userdata)
{
        const AldAlertNode row = { .id = node->id,
                .name = "node",
                .counts = ald_node_counts(node),
                .network = ald_node_as(node, NETWORK, AldNetwork) };

        ald_alert_paths_add_node(userdata, &row);
        return FALSE;
}

static gboolean collect_link(AldEntry *entry, void *userdata)
{
        AldLink link = ald_link_of(entry);

        ald_alert_paths_add_link(userdata, &link);
        return FALSE;
}

static double time_alert_paths(AldStore *store)
{
        g_autoptr(AldAlertPaths) paths = ald_alert_paths_new();
        double start = cpu_ms();

        ald_store_foreach_node(store, collect_node, paths);
        ald_store_foreach_link(store, collect_link, paths);
        return cpu_ms() - start;
}

int main(void)
{
        g_autoptr(AldStore) failed = new_store(), bond = new_store(), lldp = new_store();

        for (unsigned node = 0; node < 2; node++) {
                put_online(failed, node);
                put_links(failed, node, true);
                put_online(bond, node);
                put_bond(bond, node);
                put_links(bond, node, false);
                put_online(lldp, node);
                put_neighbours(lldp, node);
        }
        printf("{\"flood_findings_of_failed_links_ms\": %.0f, \"flood_graph_over_bonds_ms\": %.0f, "
               "\"flood_alert_paths_over_bonds_ms\": %.0f, \"flood_graph_of_lldp_ms\": %.0f}\n",
                time_findings(failed), time_graph(bond), time_alert_paths(bond), time_graph(lldp));
        return 0;
}
