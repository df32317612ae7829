/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "record/json.h"
#include "state/topology/graph.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define START 1000u /* revision */

/* A store, and a graph that follows its changes. */
typedef struct Setup {
        AldStore *store;
        AldGraph *graph;
} Setup;

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        Setup *setup = userdata;

        if (setup->graph)
                ald_graph_note_change(setup->graph, entry);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        Setup *setup = userdata;

        if (setup->graph)
                ald_graph_note_removal(setup->graph, entry);
}

static Setup *setup_new(void)
{
        Setup *setup = g_new0(Setup, 1);

        setup->store = state_make();
        setup->graph = ald_graph_new(setup->store, START);
        ald_store_watch(setup->store, on_changed, on_removing, setup);
        return setup;
}

static void setup_free(Setup *setup)
{
        ald_graph_free(g_steal_pointer(&setup->graph));
        ald_store_free(setup->store);
        g_free(setup);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Setup, setup_free)

/* What a walk finds, as JSON. Ids of edges depend on the order in which these became known. */
typedef struct Walk {
        AldGraph *graph;
        bool with_ids;
        GPtrArray *edges, *pairs, *nodes, *segments;
        unsigned n_gone, n_returned;
} Walk;

static char *to_text(const AldStruct *type, const void *row)
{
        json_auto_t *json = ald_struct_to_json(type, row);
        char *dump = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT), *text = g_strdup(dump);

        free(dump);
        return g_strdelimit(text, "\"", '\'');
}

static bool on_item(const AldGraphItem *item, void *userdata)
{
        Walk *walk = userdata;
        g_auto(AldGraphSpace) space = {};
        AldGraphNodeRow node;
        AldNodePairRow pair;
        AldEdgeRow edge;

        switch (item->change) {
        case ALD_GRAPH_NODE:
                ald_graph_describe_node(walk->graph, item, &space, &node);
                g_ptr_array_add(walk->nodes, to_text(&ald_graph_node_row_struct, &node));
                break;
        case ALD_GRAPH_EDGE:
                ald_graph_describe_edge(walk->graph, item, &space, &edge);
                if (!walk->with_ids)
                        edge.id = ALD_ABSENT_UINT64;
                g_ptr_array_add(walk->edges, to_text(&ald_edge_row_struct, &edge));
                break;
        case ALD_GRAPH_PAIR:
                ald_graph_describe_pair(item, &space, &pair);
                if (!walk->with_ids)
                        pair.to_peer_edge = pair.from_peer_edge = pair.rtt_edge = ALD_ABSENT_UINT64;
                g_ptr_array_add(walk->pairs, to_text(&ald_node_pair_row_struct, &pair));
                break;
        default:
                walk->n_gone++;
                walk->n_returned += ald_graph_has_returned(walk->graph, item);
        }
        return true;
}

static gint compare_texts(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static Walk walk_after(AldGraph *graph, uint64_t revision)
{
        Walk walk = { .graph = graph,
                .edges = g_ptr_array_new_with_free_func(g_free),
                .pairs = g_ptr_array_new_with_free_func(g_free),
                .nodes = g_ptr_array_new_with_free_func(g_free),
                .segments = g_ptr_array_new_with_free_func(g_free) };
        const GPtrArray *segments;

        (void) ald_graph_update(graph);
        ald_graph_foreach_after(graph, revision, on_item, &walk);
        segments = ald_graph_segments(graph);
        for (guint i = 0; i < segments->len; i++)
                g_ptr_array_add(walk.segments, to_text(&ald_segment_row_struct, segments->pdata[i]));
        g_ptr_array_sort(walk.edges, compare_texts);
        g_ptr_array_sort(walk.pairs, compare_texts);
        g_ptr_array_sort(walk.nodes, compare_texts);
        return walk;
}

static void walk_clear(Walk *walk)
{
        g_ptr_array_unref(walk->edges);
        g_ptr_array_unref(walk->pairs);
        g_ptr_array_unref(walk->nodes);
        g_ptr_array_unref(walk->segments);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Walk, walk_clear)

/* The only edge of this kind from one node to another, parsed; NULL if there is none. */
static json_t *find_edge(AldGraph *graph, const char *kind, unsigned source, unsigned sink)
{
        g_auto(Walk) walk = walk_after(graph, 0);
        g_autofree char *source_id = state_id(source), *sink_id = state_id(sink);
        json_t *found = NULL;

        for (guint i = 0; i < walk.edges->len; i++) {
                g_autofree char *text = g_strdelimit(g_strdup(walk.edges->pdata[i]), "'", '"');
                json_auto_t *edge = json_loads(text, 0, NULL);

                if (g_strcmp0(json_string_value(json_object_get(edge, "Kind")), kind) != 0 ||
                        g_strcmp0(json_string_value(json_object_get(edge, "Source")), source_id) != 0 ||
                        g_strcmp0(json_string_value(json_object_get(edge, "Sink")), sink_id) != 0)
                        continue;
                g_assert_null(found);
                found = json_incref(edge);
        }
        return found;
}

static void check_text(json_t *row, const char *name, const char *value)
{
        const char *is = json_string_value(json_object_get(row, name));

        if (g_strcmp0(is, value) != 0)
                g_error("%s is %s, not %s", name, is ?: "absent", value ?: "absent");
}

static void check_number(json_t *row, const char *name, uint64_t value)
{
        g_assert_true(json_is_integer(json_object_get(row, name)));
        g_assert_cmpuint((uint64_t) json_integer_value(json_object_get(row, name)), ==, value);
}

static void check_edge(Setup *setup, const char *kind, unsigned source, unsigned sink, const char *presence)
{
        json_auto_t *edge = find_edge(setup->graph, kind, source, sink);

        if (!presence) {
                g_assert_null(edge);
                return;
        }
        g_assert_nonnull(edge);
        check_text(edge, "Presence", presence);
}

static void check_field(
        Setup *setup, const char *kind, unsigned source, unsigned sink, const char *name, const char *value)
{
        json_auto_t *edge = find_edge(setup->graph, kind, source, sink);

        g_assert_nonnull(edge);
        check_text(edge, name, value);
}

static json_t *only_pair(AldGraph *graph)
{
        g_auto(Walk) walk = walk_after(graph, 0);
        g_autofree char *text = NULL;

        g_assert_cmpuint(walk.pairs->len, ==, 1);
        text = g_strdelimit(g_strdup(walk.pairs->pdata[0]), "'", '"');
        return json_loads(text, 0, NULL);
}

static void put_network(Setup *setup, unsigned node, const char *interfaces)
{
        g_autofree char *text = g_strdup_printf("{'Interfaces': [%s]}", interfaces);

        state_put(setup->store, node, ALD_KIND_NETWORK, text);
}

static void put_presence(Setup *setup, unsigned node, const char *state)
{
        g_autofree char *text = g_strdup_printf("{'State': '%s', 'SinceUSec': 77}", state);

        state_put(setup->store, node, ALD_KIND_PRESENCE, text);
}

#define ETH(n)                                                         \
        "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['192.0.2." n \
        "/24'], 'SpeedBitsPerSecond': 1000, 'Carrier': true}"
#define TO_2 "192.0.2.2"

static void test_reachable_and_not_measured(void)
{
        g_autoptr(Setup) setup = setup_new();
        json_auto_t *edge = NULL, *back = NULL, *pair = NULL;
        g_autofree char *one = state_id(1);

        put_network(setup, 1, ETH("1"));
        check_edge(setup, "socket", 1, 2, NULL);
        put_network(setup, 2, ETH("2"));
        check_edge(setup, "socket", 1, 2, "unknown");
        state_put_online(setup->store, 2);
        edge = find_edge(setup->graph, "socket", 1, 2);
        check_text(edge, "Presence", "unmeasured");
        check_text(edge, "SourcePort", "eth0");
        check_text(edge, "SinkPort", "eth0");
        check_text(edge, "SourceType", "ethernet");
        check_text(edge, "SinkType", "ethernet");
        check_text(edge, "SinkAddress", TO_2);
        check_text(edge, "Prober", one);
        check_text(edge, "DueReason", "never");
        check_number(edge, "NegotiatedBitsPerSecond", 1000);
        g_assert_null(json_object_get(edge, "BitsPerSecond"));
        g_assert_null(json_object_get(edge, "DueUSec"));
        back = find_edge(setup->graph, "socket", 2, 1);
        check_text(back, "SourceAddress", TO_2);
        g_assert_null(json_object_get(back, "SinkAddress"));
        check_text(back, "Prober", one);
        pair = only_pair(setup->graph);
        check_text(pair, "Presence", "unmeasured");
        check_text(pair, "Type", "ethernet");
        g_assert_null(json_object_get(pair, "ToPeerBitsPerSecond"));
}

static void test_each_direction_has_its_figures(void)
{
        g_autoptr(Setup) setup = setup_new();
        json_auto_t *edge = NULL, *back = NULL;

        state_put_online(setup->store, 2);
        state_put_path(setup->store, 1, 2, TO_2,
                "{'UploadBitsPerSecond': 10, 'DownloadBitsPerSecond': 20, 'UploadInterval': 1.5, "
                "'DownloadInterval': 2.5, 'UploadLimiter': 'sender', 'DownloadLimiter': 'network', "
                "'RttP50NSec': 5, 'MeasuredUSec': 100, 'RttMeasuredUSec': 200, 'SourceInterface': 'eth0', "
                "'SourceInterfaceType': 'wifi', 'SourceInterfaceGeneration': 6, 'SinkInterface': 'eth1'}");
        edge = find_edge(setup->graph, "socket", 1, 2);
        back = find_edge(setup->graph, "socket", 2, 1);
        check_text(edge, "Presence", "live");
        check_number(edge, "BitsPerSecond", 10);
        check_number(back, "BitsPerSecond", 20);
        check_text(edge, "Limiter", "sender");
        check_text(back, "Limiter", "network");
        check_text(edge, "SourcePort", "eth0");
        check_text(back, "SourcePort", "eth1");
        check_text(edge, "SourceType", "wifi");
        check_number(back, "SinkGeneration", 6);
        check_number(back, "RttP50NSec", 5);
        check_number(back, "MeasuredUSec", 100);
        check_number(back, "RttMeasuredUSec", 200);
        /* Nothing is known of their interfaces, so nobody will probe this path. */
        g_assert_null(json_object_get(back, "DueReason"));
}

static void test_when_it_is_due(void)
{
        g_autoptr(Setup) setup = setup_new();
        json_auto_t *edge = NULL;

        state_put_online(setup->store, 2);
        put_network(setup, 1, ETH("1"));
        put_network(setup, 2, ETH("2"));
        state_put_path(setup->store, 1, 2, TO_2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        edge = find_edge(setup->graph, "socket", 2, 1);
        check_text(edge, "DueReason", "expired");
        g_assert_true(json_is_integer(json_object_get(edge, "DueUSec")));
        state_put_path(setup->store, 1, 2, TO_2,
                "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100, 'Changed': 'rate'}");
        check_field(setup, "socket", 1, 2, "DueReason", "changed");
        /* The other end probes what this one does, if nobody asked it to: not by itself. */
        state_put_path(setup->store, 2, 1, "192.0.2.1", "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        {
                g_auto(Walk) walk = walk_after(setup->graph, 0);
                unsigned n_due = 0;

                for (guint i = 0; i < walk.edges->len; i++)
                        n_due += strstr(walk.edges->pdata[i], "DueReason") != NULL;
                g_assert_cmpuint(walk.edges->len, ==, 4);
                g_assert_cmpuint(n_due, ==, 2);
        }
}

/* As the planner has it: an address behind a router that has never answered is tried more rarely. */
static void test_when_a_routed_address_is_due(void)
{
        static const char failure[] = "{'Failure': 'refused', 'FailedUSec': 1, 'Failures': 4}";
        static const char *const addresses[] = { "192.0.2.2", "198.51.100.2" };
        static const uint64_t delays[] = { UINT64_C(8) * 60 * 1000000, UINT64_C(64) * 60 * 1000000 };

        for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
                g_autoptr(Setup) setup = setup_new();
                g_autofree char *row = g_strdup_printf(
                        "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['%s/24']}", addresses[i]);
                json_auto_t *edge = NULL;
                uint64_t due;

                state_put_online(setup->store, 2);
                put_network(setup, 1, ETH("1"));
                put_network(setup, 2, row);
                state_put_path(setup->store, 1, 2, addresses[i], failure);
                edge = find_edge(setup->graph, "socket", 1, 2);
                check_text(edge, "DueReason", "failed");
                due = (uint64_t) json_integer_value(json_object_get(edge, "DueUSec"));
                g_assert_cmpuint(due, <=, delays[i] + 1);
                g_assert_cmpuint(due, >, delays[i] - delays[i] / 4);
        }
}

/* A type that is known now counts; until then the one at the last measurement. */
static void test_the_type_does_not_flicker(void)
{
        g_autoptr(Setup) setup = setup_new();

        put_network(setup, 1, ETH("1"));
        state_put_online(setup->store, 2);
        state_put_path(setup->store, 1, 2, TO_2,
                "{'RttP50NSec': 5, 'RttMeasuredUSec': 1, 'SourceInterface': 'eth0', 'SinkInterface': 'eth0', "
                "'SinkInterfaceType': 'wifi'}");
        check_field(setup, "socket", 1, 2, "SinkType", "wifi");
        put_network(setup, 2, "{'Id': 'eth0', 'Addresses': ['192.0.2.2/24']}");
        check_field(setup, "socket", 1, 2, "SinkType", "wifi");
        put_network(setup, 2, ETH("2"));
        check_field(setup, "socket", 1, 2, "SinkType", "ethernet");
        put_network(setup, 2, "{'Id': 'eth0', 'Addresses': ['192.0.2.2/24']}");
        check_field(setup, "socket", 1, 2, "SinkType", "wifi");
}

static void test_types_below_bridges(void)
{
        g_autoptr(Setup) setup = setup_new();

        put_network(setup, 1,
                "{'Id': 'br0', 'Type': 'bridge', 'Ports': ['wlan0'], 'Addresses': ['192.0.2.1/24']}, "
                "{'Id': 'wlan0', 'Type': 'wifi', 'Controller': 'br0', 'Carrier': true}");
        put_network(setup, 2,
                "{'Id': 'eth0.7', 'Type': 'vlan', 'Parent': 'tb0', 'Addresses': ['192.0.2.2/24']}, "
                "{'Id': 'tb0', 'Type': 'thunderbolt', 'Carrier': true}");
        state_put(setup->store, 2, ALD_KIND_FABRIC,
                "{'ThunderboltPorts': [{'Id': '0-1', 'Interface': 'tb0', 'Generation': 4}]}");
        check_field(setup, "socket", 1, 2, "SourcePort", "br0");
        check_field(setup, "socket", 1, 2, "SourceType", "wifi");
        check_field(setup, "socket", 1, 2, "SinkPort", "eth0.7");
        check_field(setup, "socket", 1, 2, "SinkType", "thunderbolt");
}

#define IB(guid)                                               \
        "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'NodeGuid': '" guid \
        "', 'LinkLayer': 'infiniband', 'State': 'active', "    \
        "'RateBitsPerSecond': 100, 'Gids': ['0 ib fec0::1']}]}"

static void test_rdma_without_sockets(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put(setup->store, 1, ALD_KIND_FABRIC, IB("1:1:1:1"));
        state_put(setup->store, 2, ALD_KIND_FABRIC, IB("2:2:2:2"));
        state_put_online(setup->store, 2);
        check_edge(setup, "socket", 1, 2, NULL);
        check_edge(setup, "rdma", 1, 2, "unmeasured");
        check_edge(setup, "rdma", 2, 1, "unmeasured");
        check_field(setup, "rdma", 2, 1, "SourcePort", "mlx5_0.1");
        check_field(setup, "rdma", 2, 1, "SourceType", "infiniband");
        check_field(setup, "rdma", 2, 1, "Transport", "infiniband");
        check_field(setup, "rdma", 2, 1, "DueReason", "never");
        state_put_ports(setup->store, 1, "mlx5_0.1", 2, "mlx5_0.1",
                "{'UploadBitsPerSecond': 90, 'MeasuredUSec': 4, 'RttP50NSec': 3}");
        check_edge(setup, "rdma", 1, 2, "live");
        put_network(setup, 1, ETH("1"));
        put_network(setup, 2, ETH("2"));
        check_edge(setup, "rdma", 1, 2, "live");
        check_edge(setup, "socket", 1, 2, "unmeasured");
}

#define CARD(id) "{'Id': '" id "', 'OpenClPlatform': 'NVIDIA CUDA', 'Unified': false}"
#define TO_HOST(id)                                                                                \
        "{'Id': '" id ",host,pcie', 'Device': '" id "', 'Peer': 'host', 'Kind': 'pcie', 'Lanes': " \
        "8, 'BitsPerSecond': 126000}"

static json_t *find_join(AldGraph *graph, const char *from, const char *to)
{
        g_auto(Walk) walk = walk_after(graph, 0);
        json_t *found = NULL;

        for (guint i = 0; i < walk.edges->len; i++) {
                g_autofree char *text = g_strdelimit(g_strdup(walk.edges->pdata[i]), "'", '"');
                json_auto_t *edge = json_loads(text, 0, NULL);

                if (g_strcmp0(json_string_value(json_object_get(edge, "SourcePort")), from) != 0 ||
                        g_strcmp0(json_string_value(json_object_get(edge, "SinkPort")), to) != 0)
                        continue;
                g_assert_null(found);
                found = json_incref(edge);
        }
        return found;
}

static void check_join(Setup *setup, const char *from, const char *to, const char *presence)
{
        json_auto_t *edge = find_join(setup->graph, from, to);

        if (!presence) {
                g_assert_null(edge);
                return;
        }
        g_assert_nonnull(edge);
        check_text(edge, "Kind", "device");
        check_text(edge, "Presence", presence);
}

static void test_devices_of_a_node(void)
{
        g_autoptr(Setup) setup = setup_new();
        g_autofree char *two = state_id(2);
        json_auto_t *there = NULL, *back = NULL, *peers = NULL;

        state_put_online(setup->store, 2);
        state_put(setup->store, 2, ALD_KIND_BACKENDS,
                "{'Devices': [" CARD("a") ", " CARD("b") "], 'Joins': [" TO_HOST("a") ", " TO_HOST(
                        "b") ", {'Id': 'a,b,nvlink', 'Device': 'a', 'Peer': 'b', 'Kind': 'nvlink', 'Links': "
                             "4,"
                             " 'Through': 'switch'}]}");
        check_join(setup, "a", "host", "unmeasured");
        check_join(setup, "host", "b", "unmeasured");
        peers = find_join(setup->graph, "b", "a");
        check_text(peers, "Presence", "live");
        check_text(peers, "SourceType", "nvlink");
        check_text(peers, "Through", "switch");
        check_number(peers, "Links", 4);
        g_assert_null(json_object_get(peers, "BitsPerSecond"));
        g_assert_null(json_object_get(peers, "Prober"));
        state_put(setup->store, 2, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'a', 'HostToDeviceBytesPerSecond': 100, 'DeviceToHostBytesPerSecond': "
                "50, 'DeviceToHostInterval': 1.5, 'MeasuredUSec': 7, 'Flags': ['busy']}]}");
        check_join(setup, "b", "host", "unmeasured");
        there = find_join(setup->graph, "a", "host");
        back = find_join(setup->graph, "host", "a");
        check_text(there, "Presence", "live");
        check_text(there, "Source", two);
        check_text(there, "Sink", two);
        check_text(there, "Prober", two);
        check_number(there, "BitsPerSecond", 400);
        check_number(back, "BitsPerSecond", 800);
        check_number(there, "NegotiatedBitsPerSecond", 126000);
        check_number(there, "Lanes", 8);
        check_number(there, "MeasuredUSec", 7);
        g_assert_true(json_is_real(json_object_get(there, "Interval")));
        g_assert_null(json_object_get(back, "Interval"));
        {
                g_auto(Walk) walk = walk_after(setup->graph, 0);

                g_assert_cmpuint(walk.edges->len, ==, 6);
                g_assert_cmpuint(walk.pairs->len, ==, 0);
        }
        g_assert_null(json_object_get(there, "Failure"));
        state_put(setup->store, 2, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'a', 'HostToDeviceBytesPerSecond': 100, 'MeasuredUSec': 7, 'Failure': "
                "'to-host: it crashed', 'FailedUSec': 9}]}");
        {
                json_auto_t *failed = find_join(setup->graph, "a", "host");

                check_text(failed, "Failure", "to-host: it crashed");
                check_number(failed, "FailedUSec", 9);
        }
        put_presence(setup, 2, "offline");
        check_join(setup, "a", "host", "offline");
}

/* Copies go over XGMI, so the rate is none of PCI Express. */
static void test_copies_have_one_way(void)
{
        g_autoptr(Setup) setup = setup_new();
        g_auto(Walk) walk = {};
        unsigned n_rates = 0;

        state_put(setup->store, 1, ALD_KIND_BACKENDS,
                "{'Devices': [" CARD("a") "], 'Joins': [" TO_HOST(
                        "a") ", {'Id': 'a,host,xgmi', 'Device': 'a', "
                             "'Peer': 'host', 'Kind': 'xgmi'}]}");
        state_put(setup->store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'a', 'HostToDeviceBytesPerSecond': 100, 'DeviceToHostBytesPerSecond': "
                "50}]}");
        walk = walk_after(setup->graph, 0);
        for (guint i = 0; i < walk.edges->len; i++) {
                bool is_xgmi = strstr(walk.edges->pdata[i], "xgmi");
                bool has_rate = strstr(walk.edges->pdata[i], "'BitsPerSecond'");

                g_assert_true(strstr(walk.edges->pdata[i], "'live'"));
                g_assert_true(has_rate == is_xgmi);
                n_rates += has_rate;
        }
        g_assert_cmpuint(walk.edges->len, ==, 4);
        g_assert_cmpuint(n_rates, ==, 2);
}

static void test_devices_that_go(void)
{
        g_autoptr(Setup) setup = setup_new();
        uint64_t revision;

        state_put(setup->store, 1, ALD_KIND_BACKENDS,
                "{'Devices': [" CARD("a") "], 'Joins': [" TO_HOST("a") ", " TO_HOST(
                        "x") ", "
                             "{'Id': 'a,x,pcie', 'Device': 'a', 'Peer': 'x', 'Kind': 'pcie'}, {'Id': "
                             "'nothing'}, {'Id': 'a,a,pcie', 'Device': 'a', 'Peer': 'a', 'Kind': 'pcie'},"
                             " {'Id': 'a,host,later', 'Device': 'a', 'Peer': 'host', 'Kind': 'later'}]}");
        check_join(setup, "a", "host", "unmeasured");
        check_join(setup, "x", "host", NULL);
        check_join(setup, "a", "x", NULL);
        revision = ald_graph_update(setup->graph);
        state_put(setup->store, 1, ALD_KIND_BACKENDS, "{'Devices': [" CARD("a") "]}");
        check_join(setup, "a", "host", NULL);
        {
                g_auto(Walk) walk = walk_after(setup->graph, revision);

                g_assert_cmpuint(walk.n_gone, ==, 2);
        }
}

static void test_unified_devices(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put(setup->store, 1, ALD_KIND_BACKENDS,
                "{'Devices': [{'Id': 'a', 'OpenClPlatform': 'x', 'Unified': true}], 'Joins': [" TO_HOST(
                        "a") "]}");
        check_join(setup, "a", "host", "live");
}

/* The same hardware twice belongs to nobody, but a machine that was installed anew has it to itself. */
static void test_who_claims_the_hardware_of_others(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put(setup->store, 1, ALD_KIND_FABRIC, IB("1:1:1:1"));
        state_put(setup->store, 2, ALD_KIND_FABRIC, IB("2:2:2:2"));
        state_put(setup->store, 3, ALD_KIND_FABRIC, IB("2:2:2:2"));
        state_put_online(setup->store, 2);
        check_edge(setup, "rdma", 1, 2, "unmeasured");
        put_presence(setup, 3, "online");
        check_edge(setup, "rdma", 1, 2, NULL);
        check_edge(setup, "rdma", 1, 3, NULL);
        put_presence(setup, 2, "offline");
        check_edge(setup, "rdma", 1, 2, NULL);
        check_edge(setup, "rdma", 1, 3, "unmeasured");
}

static void test_a_port_that_cannot_be_used(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put_online(setup->store, 2);
        state_put(setup->store, 2, ALD_KIND_FABRIC,
                "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'down'}]}");
        state_put_ports(
                setup->store, 1, "mlx5_0.1", 2, "mlx5_0.1", "{'UploadBitsPerSecond': 90, 'MeasuredUSec': 4}");
        check_edge(setup, "rdma", 1, 2, "offline");
        check_field(setup, "rdma", 1, 2, "Problem", "down");
        check_field(setup, "rdma", 1, 2, "Reason", "mlx5_0.1 at the sink cannot be used: it is down");
        check_field(setup, "rdma", 2, 1, "Reason", "mlx5_0.1 at the source cannot be used: it is down");
        state_put(setup->store, 2, ALD_KIND_FABRIC, "{}");
        check_field(setup, "rdma", 1, 2, "Problem", "no-port");
}

static void test_thunderbolt(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put_online(setup->store, 2);
        state_put(setup->store, 1, ALD_KIND_FABRIC,
                "{'ThunderboltDomains': [{'Id': 'domain0', 'DomainId': 'aa-1'}], 'ThunderboltPorts': "
                "[{'Id': '0-1', 'DomainId': 'aa-1', 'PeerDomainId': 'bb-2', 'SpeedBitsPerSecond': 40, "
                "'Generation': 4}]}");
        check_edge(setup, "thunderbolt", 1, 2, NULL);
        state_put(setup->store, 2, ALD_KIND_FABRIC,
                "{'ThunderboltDomains': [{'Id': 'domain0', 'DomainId': 'bb-2'}], 'ThunderboltPorts': "
                "[{'Id': '0-3', 'DomainId': 'bb-2', 'PeerDomainId': 'aa-1', 'SpeedBitsPerSecond': 20}]}");
        check_edge(setup, "thunderbolt", 1, 2, "live");
        check_field(setup, "thunderbolt", 2, 1, "SourcePort", "0-3");
        check_field(setup, "thunderbolt", 2, 1, "SinkPort", "0-1");
        check_field(setup, "thunderbolt", 2, 1, "Prober", NULL);
        put_presence(setup, 2, "offline");
        check_edge(setup, "thunderbolt", 1, 2, "offline");
        state_put(setup->store, 1, ALD_KIND_FABRIC, "{}");
        check_edge(setup, "thunderbolt", 1, 2, NULL);
}

static void test_lldp(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put_online(setup->store, 2);
        put_network(setup, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'HardwareAddress': '02:00:00:00:00:01', 'Carrier': "
                "true}");
        state_put(setup->store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth9', 'Type': 'ethernet', 'HardwareAddress': '02:00:00:00:00:02', "
                "'Carrier': true}], "
                "'Neighbours': [{'Id': 'x', 'Interface': 'eth9', 'ChassisId': '02:00:00:00:00:01', 'PortId': "
                "'02:00:00:00:00:01'}]}");
        check_edge(setup, "lldp", 1, 2, "candidate");
        state_put(setup->store, 1, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'HardwareAddress': '02:00:00:00:00:01', "
                "'Carrier': true}], "
                "'Neighbours': [{'Id': 'y', 'Interface': 'eth0', 'ChassisId': '02:00:00:00:00:02', 'PortId': "
                "'02:00:00:00:00:02'}]}");
        check_edge(setup, "lldp", 1, 2, "live");
        check_field(setup, "lldp", 1, 2, "SinkPort", "eth9");
        check_field(setup, "lldp", 1, 2, "SinkType", "ethernet");
}

static void test_presence(void)
{
        g_autoptr(Setup) setup = setup_new();
        static const char *const states[][2] = { { "online", "live" }, { "stale", "stale" },
                { "offline", "offline" }, { "duplicate", "offline" }, { "unknown", "unknown" },
                { "online", "live" } };

        state_put_path(setup->store, 2, 3, "192.0.2.3", "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        put_presence(setup, 3, "online");
        for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
                put_presence(setup, 2, states[i][0]);
                check_edge(setup, "socket", 2, 3, states[i][1]);
                check_edge(setup, "socket", 3, 2, states[i][1]);
        }
        /* The time of the figures remains. */
        put_presence(setup, 2, "offline");
        {
                json_auto_t *edge = find_edge(setup->graph, "socket", 2, 3);
                json_auto_t *pair = only_pair(setup->graph);

                check_number(edge, "MeasuredUSec", 100);
                check_number(edge, "BitsPerSecond", 10);
                check_text(edge, "DueReason", NULL);
                check_text(pair, "Presence", "offline");
                g_assert_null(json_object_get(pair, "ToPeerBitsPerSecond"));
        }
}

static void test_a_cable_is_pulled(void)
{
        g_autoptr(Setup) setup = setup_new();

        put_network(setup, 1, ETH("1"));
        put_network(setup, 2, ETH("2"));
        state_put_online(setup->store, 2);
        state_put_path(setup->store, 1, 2, TO_2,
                "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100, 'SourceInterface': 'eth0', "
                "'SinkInterface': 'eth0'}");
        check_edge(setup, "socket", 1, 2, "live");
        put_network(setup, 1,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['192.0.2.1/24'], 'Carrier': false}");
        check_edge(setup, "socket", 1, 2, "offline");
        check_field(setup, "socket", 1, 2, "Problem", "no-carrier");
        check_field(setup, "socket", 2, 1, "Reason", "eth0 at the sink has no carrier");
        /* As a node of an earlier version tells that round trips have since gone another way. */
        state_put_path(setup->store, 1, 2, TO_2,
                "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100, 'SourceInterface': 'eth0', "
                "'SinkInterface': 'eth0', 'Changed': 'route'}");
        check_edge(setup, "socket", 1, 2, "live");
        state_put_path(setup->store, 1, 2, TO_2,
                "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100, 'SourceInterface': 'eth0', "
                "'SinkInterface': 'eth0'}");
        put_network(setup, 1, "{'Id': 'lo', 'Type': 'loopback'}");
        check_field(setup, "socket", 1, 2, "Problem", "no-interface");
        put_network(setup, 1, ETH("1"));
        check_edge(setup, "socket", 1, 2, "live");
        /* Another interface takes over the address of the source, whether the old one stays or not. */
        for (unsigned i = 0; i < 2; i++) {
                g_autofree char *both = g_strconcat(
                        "{'Id': 'eth9', 'Type': 'ethernet', 'Addresses': ['192.0.2.1/24'], 'Carrier': true}",
                        i == 0 ? ", {'Id': 'eth0', 'Type': 'ethernet', 'Carrier': false}" : "", NULL);

                put_network(setup, 1, both);
                check_edge(setup, "socket", 1, 2, "live");
                check_field(setup, "socket", 1, 2, "SourcePort", "eth9");
                check_field(setup, "socket", 1, 2, "Changed", "route");
                check_field(setup, "socket", 1, 2, "DueReason", "changed");
                check_field(setup, "socket", 1, 2, "Problem", NULL);
        }
        put_network(setup, 1, ETH("1"));
        check_field(setup, "socket", 1, 2, "Changed", NULL);
        /* A bond takes over the address of the sink. */
        put_network(
                setup, 2, "{'Id': 'bond0', 'Type': 'bond', 'Addresses': ['192.0.2.2/24'], 'Carrier': true}");
        check_edge(setup, "socket", 1, 2, "live");
        check_field(setup, "socket", 1, 2, "SinkPort", "bond0");
        check_field(setup, "socket", 1, 2, "Changed", "route");
        check_field(setup, "socket", 1, 2, "BitsPerSecond", NULL);
        put_network(setup, 2, ETH("2"));
        check_field(setup, "socket", 1, 2, "SinkPort", "eth0");
        put_network(setup, 2, ETH("9"));
        {
                g_auto(Walk) walk = walk_after(setup->graph, 0);

                /* The old address is gone, and the new one was not measured. */
                g_assert_cmpuint(walk.edges->len, ==, 4);
                g_assert_nonnull(strstr(walk.edges->pdata[0], "no-address")
                                         ?: strstr(walk.edges->pdata[1], "no-address"));
        }
}

static void test_policies(void)
{
        g_autoptr(Setup) setup = setup_new();
        g_autofree char *two = state_id(2);

        put_network(setup, 1, ETH("1"));
        put_network(setup, 2, ETH("2"));
        state_put_online(setup->store, 2);
        state_put(setup->store, 1, ALD_KIND_PROBE_POLICY, "{'Starts': ['rdma']}");
        /* Then the other one probes. */
        check_field(setup, "socket", 1, 2, "Prober", two);
        check_field(setup, "socket", 1, 2, "SinkAddress", NULL);
        check_field(setup, "socket", 1, 2, "SourceAddress", "192.0.2.1");
        state_put(setup->store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['rdma']}");
        check_field(setup, "socket", 1, 2, "Reason", "the source starts no such probes");
        state_put(setup->store, 2, ALD_KIND_PROBE_POLICY, "{'Links': 'none', 'Reason': 'disabled'}");
        check_field(setup, "socket", 1, 2, "Reason", "the sink allows no such probes: disabled");
        state_put(setup->store, 2, ALD_KIND_PROBE_POLICY, "{'Starts': ['rdma']}");
        check_field(setup, "socket", 1, 2, "Problem", "policy");
        check_edge(setup, "socket", 1, 2, "unmeasured");
        check_field(setup, "socket", 1, 2, "DueReason", NULL);
}

/* The slower end counts, whichever direction it is. */
static void test_negotiated_speed(void)
{
        g_autoptr(Setup) setup = setup_new();
        json_auto_t *there = NULL, *back = NULL;

        put_network(setup, 1, ETH("1"));
        put_network(setup, 2,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['192.0.2.2/24'], 'SpeedBitsPerSecond': 7}");
        state_put_path(setup->store, 1, 2, TO_2,
                "{'RttP50NSec': 5, 'RttMeasuredUSec': 1, 'SourceInterface': 'eth0', "
                "'NegotiatedBitsPerSecond': 1000}");
        there = find_edge(setup->graph, "socket", 1, 2);
        back = find_edge(setup->graph, "socket", 2, 1);
        check_number(there, "NegotiatedBitsPerSecond", 7);
        check_number(back, "NegotiatedBitsPerSecond", 7);
}

#define OVER_ETHERNET(more)                                                              \
        "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'LinkLayer': 'ethernet', 'State': 'active', " \
        "'Gids': ['0 rocev2 fe80::1 eth0'], 'Interface': 'eth0'" more "}]}"

/* A port that turns out to speak iWARP is no longer joined as one of RoCE, though nothing else has changed.
 */
static void test_a_transport_that_becomes_known(void)
{
        g_autoptr(Setup) setup = setup_new();

        for (unsigned node = 1; node <= 2; node++) {
                g_autofree char *network = g_strdup_printf(
                        "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::%u/64']}]}",
                        node);

                state_put(setup->store, node, ALD_KIND_NETWORK, network);
                state_put(setup->store, node, ALD_KIND_FABRIC, OVER_ETHERNET(""));
                put_presence(setup, node, "online");
        }
        state_put_path(setup->store, 1, 2, "fe80::2",
                "{'UploadBitsPerSecond': 1, 'MeasuredUSec': 1, 'SourceInterface': 'eth0', "
                "'SinkInterface': 'eth0'}");
        check_edge(setup, "rdma", 1, 2, "unmeasured");
        state_put(setup->store, 2, ALD_KIND_FABRIC, OVER_ETHERNET(", 'Transport': 'iwarp'"));
        check_edge(setup, "rdma", 1, 2, NULL);
        state_put(setup->store, 2, ALD_KIND_FABRIC, OVER_ETHERNET(", 'Transport': 'roce'"));
        check_edge(setup, "rdma", 1, 2, "unmeasured");
}

/* Node 3 joined the ports of the others, but is no longer heard: what it said is no reason to probe. */
static void test_old_reports_join_nothing(void)
{
        g_autoptr(Setup) setup = setup_new();
        static const char *const roce =
                "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'LinkLayer': 'ethernet', 'State': 'active', "
                "'Gids': ['0 rocev2 fe80::1 eth0'], 'Interface': 'eth0'}]}";

        for (unsigned node = 1; node <= 3; node++) {
                g_autofree char *network = g_strdup_printf(
                        "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::%u/64']}]}",
                        node);

                state_put(setup->store, node, ALD_KIND_NETWORK, network);
                state_put(setup->store, node, ALD_KIND_FABRIC, roce);
                put_presence(setup, node, "online");
        }
        state_put_path(setup->store, 3, 1, "fe80::1",
                "{'UploadBitsPerSecond': 1, 'MeasuredUSec': 1, 'SourceInterface': 'eth0'}");
        state_put_path(setup->store, 3, 2, "fe80::2",
                "{'UploadBitsPerSecond': 1, 'MeasuredUSec': 1, 'SourceInterface': 'eth0'}");
        check_edge(setup, "rdma", 1, 2, "unmeasured");
        put_presence(setup, 3, "offline");
        check_edge(setup, "rdma", 1, 2, NULL);
        check_edge(setup, "rdma", 1, 3, "offline");
}

static void test_failures(void)
{
        g_autoptr(Setup) setup = setup_new();

        state_put_online(setup->store, 2);
        put_network(setup, 1, ETH("1"));
        put_network(setup, 2, ETH("2"));
        state_put_path(setup->store, 1, 2, TO_2, "{'Failure': 'refused', 'FailedUSec': 50, 'Failures': 1}");
        check_edge(setup, "socket", 1, 2, "unmeasured");
        check_field(setup, "socket", 1, 2, "Failure", "refused");
        check_field(setup, "socket", 1, 2, "DueReason", "failed");
}

static void test_revisions(void)
{
        g_autoptr(Setup) setup = setup_new();
        uint64_t first, second;

        state_put_online(setup->store, 2);
        state_put_online(setup->store, 3);
        state_put_path(setup->store, 1, 2, TO_2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        state_put_path(setup->store, 1, 3, "192.0.2.3", "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        first = ald_graph_update(setup->graph);
        g_assert_cmpuint(first, >, START);
        g_assert_true(ald_graph_remembers(setup->graph, first));
        g_assert_false(ald_graph_remembers(setup->graph, 0));
        g_assert_false(ald_graph_remembers(setup->graph, START - 1));
        g_assert_false(ald_graph_remembers(setup->graph, first + 1));

        /* What changes nothing in it is no change. */
        state_put(setup->store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 5}");
        state_put(setup->store, 2, ALD_KIND_NETWORK, "{'Interfaces': []}");
        state_put_path(setup->store, 1, 2, TO_2,
                "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100, 'SpotUploadBitsPerSecond': 4}");
        second = ald_graph_update(setup->graph);
        /* A node without interfaces does not have this address. */
        g_assert_cmpuint(second, ==, first + 3);

        first = second;
        state_put_path(setup->store, 1, 3, "192.0.2.3", "{'UploadBitsPerSecond': 11, 'MeasuredUSec': 100}");
        {
                g_auto(Walk) walk = walk_after(setup->graph, first);

                /* Only one direction differs. */
                g_assert_cmpuint(walk.edges->len, ==, 1);
                g_assert_cmpuint(walk.pairs->len, ==, 1);
                g_assert_cmpuint(walk.nodes->len, ==, 0);
        }
        first = ald_graph_update(setup->graph);
        {
                AldId three = id_make(3);

                ald_store_drop_own_links(setup->store, &three, 1, 1);
                ald_store_forget(setup->store, &three, 1);
        }
        {
                g_auto(Walk) walk = walk_after(setup->graph, first);

                g_assert_cmpuint(walk.n_gone, ==, 4); /* two edges, a pair, a node */
                g_assert_cmpuint(walk.n_returned, ==, 0);
                g_assert_cmpuint(walk.edges->len + walk.pairs->len, ==, 0);
        }
        state_put_path(setup->store, 1, 3, "192.0.2.3", "{'UploadBitsPerSecond': 11, 'MeasuredUSec': 100}");
        {
                g_auto(Walk) walk = walk_after(setup->graph, first);

                g_assert_cmpuint(walk.n_gone, ==, 4);
                g_assert_cmpuint(walk.n_returned, ==, 2); /* the edges are others */
                g_assert_cmpuint(walk.nodes->len, ==, 1);
        }
}

static bool count_hidden(const AldGraphItem *item, void *userdata)
{
        unsigned *n = userdata;

        *n += item->hidden;
        return true;
}

/* Those who measured a node that was forgotten keep their links, in case it returns. */
static void test_links_to_nobody(void)
{
        g_autoptr(Setup) setup = setup_new();
        unsigned before = 0, without = 0, after = 0;
        AldId two = id_make(2);
        uint64_t revision;

        state_put_online(setup->store, 2);
        state_put_path(setup->store, 1, 2, TO_2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        revision = ald_graph_update(setup->graph);
        ald_graph_foreach_after(setup->graph, 0, count_hidden, &before);
        ald_store_forget(setup->store, &two, 1);
        (void) ald_graph_update(setup->graph);
        ald_graph_foreach_after(setup->graph, revision, count_hidden, &without);
        state_put_online(setup->store, 2);
        (void) ald_graph_update(setup->graph);
        ald_graph_foreach_after(setup->graph, 0, count_hidden, &after);
        g_assert_cmpuint(before, ==, 0);
        g_assert_cmpuint(without, ==, 4); /* two edges, a pair, a node */
        g_assert_cmpuint(after, ==, 0);
}

static bool measure_item(const AldGraphItem *item, void *userdata)
{
        AldGraph *graph = userdata;

        if (item->change == ALD_GRAPH_EDGE)
                g_assert_cmpuint(ald_graph_row_size(graph, item), >=, item->bytes + 900);
        return true;
}

/* Records change before there is time for an update. */
static void test_rows_that_have_grown(void)
{
        g_autoptr(Setup) setup = setup_new();
        g_autofree char *reason = g_strnfill(900, 'x'), *fields = NULL;

        state_put_path(setup->store, 1, 2, TO_2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
        (void) ald_graph_update(setup->graph);
        fields = g_strdup_printf(
                "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100, 'FailedUSec': 200, 'Failure': '%s'}",
                reason);
        state_put_path(setup->store, 1, 2, TO_2, fields);
        g_assert_true(ald_graph_is_outdated(setup->graph));
        ald_graph_foreach_after(setup->graph, 0, measure_item, setup->graph);
}

static void test_forgotten_revisions(void)
{
        g_autoptr(Setup) setup = setup_new();
        uint64_t first = ald_graph_update(setup->graph);

        for (unsigned i = 0; i <= ALD_GRAPH_GONE_MAX / 3; i++) {
                AldId two = id_make(2);

                state_put_path(setup->store, 1, 2, TO_2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 100}");
                (void) ald_graph_update(setup->graph);
                ald_store_drop_own_links(setup->store, &two, 1, 1);
                (void) ald_graph_update(setup->graph);
        }
        g_assert_false(ald_graph_remembers(setup->graph, first));
        g_assert_true(ald_graph_remembers(setup->graph, ald_graph_update(setup->graph)));
}

static void test_best_of_a_pair(void)
{
        g_autoptr(Setup) setup = setup_new();
        json_auto_t *pair = NULL;

        state_put_online(setup->store, 2);
        state_put_path(setup->store, 1, 2, "192.0.2.1",
                "{'UploadBitsPerSecond': 100, 'DownloadBitsPerSecond': 10, 'MeasuredUSec': 1, 'RttP50NSec': "
                "9, "
                "'SourceInterfaceType': 'ethernet', 'SinkInterfaceType': 'ethernet'}");
        state_put_path(setup->store, 1, 2, "192.0.2.2",
                "{'UploadBitsPerSecond': 50, 'DownloadBitsPerSecond': 60, 'MeasuredUSec': 2, 'RttP50NSec': "
                "7, "
                "'RttMeasuredUSec': 8}");
        /* It failed since, so it counts only if nothing else is there. */
        state_put_path(setup->store, 1, 2, "192.0.2.3",
                "{'UploadBitsPerSecond': 999, 'DownloadBitsPerSecond': 999, 'MeasuredUSec': 2, 'RttP50NSec': "
                "1, "
                "'FailedUSec': 3}");
        pair = only_pair(setup->graph);
        check_text(pair, "Presence", "live");
        check_text(pair, "Type", "ethernet");
        check_number(pair, "ToPeerBitsPerSecond", 100);
        check_number(pair, "ToPeerMeasuredUSec", 1);
        check_number(pair, "FromPeerBitsPerSecond", 60);
        check_number(pair, "FromPeerMeasuredUSec", 2);
        check_number(pair, "RttP50NSec", 7);
        check_number(pair, "RttMeasuredUSec", 8);
}

static void test_large_clusters_list_own_paths(void)
{
        g_autoptr(Setup) setup = setup_new();

        for (unsigned n = 1; n <= ALD_GRAPH_ALL_BELOW; n++) {
                g_autofree char *interface = g_strdup_printf(
                        "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.%u/24']}", n);
                unsigned n_pairs = n < ALD_GRAPH_ALL_BELOW ? n * (n - 1) / 2 : n - 1;

                put_network(setup, n, interface);
                if (n < ALD_GRAPH_ALL_BELOW - 1)
                        continue;
                {
                        g_auto(Walk) walk = walk_after(setup->graph, 0);

                        g_assert_cmpuint(walk.pairs->len, ==, n_pairs);
                        g_assert_cmpuint(walk.edges->len, ==, 2 * n_pairs);
                }
        }
}

/* Records in any order: few names, addresses and ports, so that they meet often. */

#define RANDOM_NODES 4u

static unsigned random_below(unsigned n)
{
        return (unsigned) g_test_rand_int_range(0, (gint) n);
}

static const char *pick(const char *const *from, unsigned n)
{
        return from[random_below(n)];
}
#define PICK(array) pick(array, G_N_ELEMENTS(array))

static const char *const interfaces[] = { "eth0", "eth1", "br0", "eth0.7", "tb0" };
static const char *const types[] = { "ethernet", "wifi", "bridge", "vlan", "thunderbolt", "unknown" };
static const char *const hardware[] = { "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03" };
static const char *const addresses[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3", "fe80::1", "fe80::2" };
static const char *const domains[] = { "aa-1", "bb-2", "cc-3" };
static const char *const guids[] = { "1:1:1:1", "2:2:2:2", "3:3:3:3" };
static const char *const rdma_ports[] = { "mlx5_0.1", "mlx5_1.1" };
static const char *const starts[] = { "rdma", "socket", "rdma', 'socket", "compute" };
static const char *const policies[] = { "full", "full", "round-trips", "none" };
static const char *const states[] = { "online", "stale", "offline", "duplicate", "unknown" };

static void append_interfaces(GString *text)
{
        unsigned n = random_below(4);

        for (unsigned i = 0; i < n; i++) {
                g_string_append_printf(text,
                        "%s{'Id': '%s', 'Type': '%s', 'HardwareAddress': '%s', 'Addresses': ['%s/64'], "
                        "'Carrier': %s",
                        i > 0 ? ", " : "", interfaces[(i + random_below(2)) % 5 == 4 ? 4 : i], PICK(types),
                        PICK(hardware), PICK(addresses), random_below(4) > 0 ? "true" : "false");
                if (random_below(4) == 0)
                        g_string_append_printf(text, ", 'Parent': '%s'", PICK(interfaces));
                if (random_below(4) == 0)
                        g_string_append_printf(text, ", 'Controller': '%s'", PICK(interfaces));
                if (random_below(4) == 0)
                        g_string_append_printf(text, ", 'Ports': ['%s']", PICK(interfaces));
                g_string_append(text, "}");
        }
}

static char *random_network(void)
{
        GString *text = g_string_new("{'Interfaces': [");

        append_interfaces(text);
        g_string_append(text, "], 'Neighbours': [");
        if (random_below(2) == 0)
                g_string_append_printf(text,
                        "{'Id': 'n', 'Interface': '%s', 'ChassisId': '%s', 'PortId': '%s'}", PICK(interfaces),
                        PICK(hardware), PICK(hardware));
        g_string_append(text, "]}");
        return g_string_free(text, FALSE);
}

static char *random_fabric(void)
{
        static const char *const layers[] = { "infiniband", "ethernet" };
        static const char *const port_states[] = { "active", "active", "down" };
        static const char *const gids[] = { "0 ib fe80::1", "0 ib fec0::2", "0 rocev2 fe80::3 eth0" };
        GString *text = g_string_new("{'RdmaPorts': [");

        for (unsigned i = 0; i < random_below(3); i++)
                g_string_append_printf(text,
                        "%s{'Id': '%s', 'NodeGuid': '%s', 'LinkLayer': '%s', 'State': '%s', 'Gids': ['%s'], "
                        "'Interface': '%s'}",
                        i > 0 ? ", " : "", rdma_ports[i], PICK(guids), PICK(layers), PICK(port_states),
                        PICK(gids), PICK(interfaces));
        g_string_append_printf(
                text, "], 'ThunderboltDomains': [{'Id': 'domain0', 'DomainId': '%s'}], ", PICK(domains));
        g_string_append_printf(text,
                "'ThunderboltPorts': [{'Id': '0-1', 'DomainId': '%s', 'PeerDomainId': '%s', 'Interface': "
                "'tb0'}]}",
                PICK(domains), PICK(domains));
        return g_string_free(text, FALSE);
}

static char *random_link(void)
{
        GString *text = g_string_new("{'Failures': 1");

        if (random_below(3) > 0)
                g_string_append_printf(text, ", 'UploadBitsPerSecond': %u, 'MeasuredUSec': %u",
                        random_below(3) + 1, random_below(3) + 1);
        if (random_below(3) > 0)
                g_string_append_printf(text, ", 'DownloadBitsPerSecond': %u", random_below(3) + 1);
        if (random_below(3) > 0)
                g_string_append_printf(text, ", 'RttP50NSec': %u", random_below(3) + 1);
        if (random_below(3) == 0)
                g_string_append_printf(text, ", 'FailedUSec': %u", random_below(3) + 1);
        g_string_append(text, "}");
        return g_string_free(text, FALSE);
}

static void put_random_link(AldStore *store, unsigned node)
{
        unsigned peer = random_below(RANDOM_NODES) + 1;
        g_autofree char *text = random_link();

        if (peer == node)
                return;
        if (random_below(2) == 0)
                state_put_path(store, node, peer, PICK(addresses), text);
        else
                state_put_ports(store, node, PICK(rdma_ports), peer, PICK(rdma_ports), text);
}

static char *random_devices(void)
{
        static const char *const peers[] = { "host", "b", "c", "x" }, *const kinds[] = { "pcie", "nvlink",
                "later" };
        GString *text = g_string_new("{'Devices': [" CARD("a") ", " CARD("b"));

        if (random_below(2) == 0)
                g_string_append(text, ", {'Id': 'c'}");
        g_string_append(text, "], 'Joins': [");
        for (unsigned i = 0, n = random_below(4); i < n; i++)
                g_string_append_printf(text,
                        "%s{'Id': '%u', 'Device': 'a', 'Peer': '%s', 'Kind': '%s', 'Lanes': %u}",
                        i > 0 ? ", " : "", i, PICK(peers), PICK(kinds), random_below(2) + 1);
        return g_string_free(g_string_append(text, "]}"), FALSE);
}

static void change_at_random(AldStore *store)
{
        unsigned node = random_below(RANDOM_NODES) + 1;
        g_autofree char *text = NULL;
        const AldId id = id_make(node);

        switch (random_below(10)) {
        case 0:
                text = random_network();
                state_put(store, node, ALD_KIND_NETWORK, text);
                break;
        case 1:
                text = random_fabric();
                state_put(store, node, ALD_KIND_FABRIC, text);
                break;
        case 2:
                text = g_strdup_printf("{'State': '%s'}", PICK(states));
                state_put(store, node, ALD_KIND_PRESENCE, text);
                break;
        case 3:
                text = g_strdup_printf("{'Starts': ['%s'], 'Links': '%s'}", PICK(starts), PICK(policies));
                state_put(store, node, ALD_KIND_PROBE_POLICY, text);
                break;
        case 4:
                text = random_devices();
                state_put(store, node, ALD_KIND_BACKENDS, text);
                break;
        case 5:
                text = g_strdup_printf(
                        "{'Devices': [{'Id': 'a', 'HostToDeviceBytesPerSecond': %u}]}", random_below(3) + 1);
                state_put(store, node, ALD_KIND_COMPUTE, text);
                break;
        case 6:
                if (node != 1 && random_below(4) == 0)
                        ald_store_forget(store, &id, 1);
                else if (node != 1 && random_below(4) == 0) {
                        /* All its records have an older epoch, and so will those that follow not. */
                        ald_store_announce(store, &id, 2);
                        ald_store_announce(store, &id, 1);
                }
                break;
        default:
                put_random_link(store, node);
        }
}

static void assert_same(GPtrArray *a, GPtrArray *b)
{
        for (guint i = 0; i < MAX(a->len, b->len); i++)
                g_assert_cmpstr(i < a->len ? a->pdata[i] : NULL, ==, i < b->len ? b->pdata[i] : NULL);
}

static void test_any_order(void)
{
        unsigned n = g_test_slow() ? 10000 : 500;

        for (unsigned i = 0; i < n; i++) {
                g_autoptr(Setup) setup = setup_new();
                unsigned changes = random_below(40);
                g_autoptr(AldGraph) at_once = NULL;

                for (unsigned k = 0; k < changes; k++) {
                        change_at_random(setup->store);
                        if (random_below(4) == 0)
                                (void) ald_graph_update(setup->graph);
                }
                at_once = ald_graph_new(setup->store, START);
                {
                        g_auto(Walk) grown = walk_after(setup->graph, 0), built = walk_after(at_once, 0);

                        assert_same(grown.edges, built.edges);
                        assert_same(grown.pairs, built.pairs);
                        assert_same(grown.nodes, built.nodes);
                        assert_same(grown.segments, built.segments);
                }
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/graph/reachable", test_reachable_and_not_measured);
        g_test_add_func("/graph/figures", test_each_direction_has_its_figures);
        g_test_add_func("/graph/due", test_when_it_is_due);
        g_test_add_func("/graph/due-routed", test_when_a_routed_address_is_due);
        g_test_add_func("/graph/type", test_the_type_does_not_flicker);
        g_test_add_func("/graph/below-bridges", test_types_below_bridges);
        g_test_add_func("/graph/rdma", test_rdma_without_sockets);
        g_test_add_func("/graph/devices", test_devices_of_a_node);
        g_test_add_func("/graph/copies", test_copies_have_one_way);
        g_test_add_func("/graph/devices-go", test_devices_that_go);
        g_test_add_func("/graph/unified-devices", test_unified_devices);
        g_test_add_func("/graph/claims", test_who_claims_the_hardware_of_others);
        g_test_add_func("/graph/unusable-port", test_a_port_that_cannot_be_used);
        g_test_add_func("/graph/thunderbolt", test_thunderbolt);
        g_test_add_func("/graph/lldp", test_lldp);
        g_test_add_func("/graph/presence", test_presence);
        g_test_add_func("/graph/cable", test_a_cable_is_pulled);
        g_test_add_func("/graph/policies", test_policies);
        g_test_add_func("/graph/failures", test_failures);
        g_test_add_func("/graph/negotiated", test_negotiated_speed);
        g_test_add_func("/graph/transport-becomes-known", test_a_transport_that_becomes_known);
        g_test_add_func("/graph/old-reports", test_old_reports_join_nothing);
        g_test_add_func("/graph/revisions", test_revisions);
        g_test_add_func("/graph/forgotten-revisions", test_forgotten_revisions);
        g_test_add_func("/graph/links-to-nobody", test_links_to_nobody);
        g_test_add_func("/graph/grown", test_rows_that_have_grown);
        g_test_add_func("/graph/pair", test_best_of_a_pair);
        g_test_add_func("/graph/large", test_large_clusters_list_own_paths);
        g_test_add_func("/graph/any-order", test_any_order);
        return g_test_run();
}
