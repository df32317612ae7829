/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link/link-quality.h"
#include "state/link/path-end.h"
#include "state/topology/segments.h"
#include "tests/unit/state-maker.h"

#define GBIT UINT64_C(1000000000)

static const char interfaces[] =
        "{'Interfaces': ["
        "{'Id': 'eth0', 'Type': 'ethernet', 'SpeedBitsPerSecond': 1000000000, 'Controller': 'br0'}, "
        "{'Id': 'vnet0', 'Type': 'tunnel', 'Controller': 'br0'}, "
        "{'Id': 'veth0', 'Type': 'veth', 'Controller': 'br0'}, "
        "{'Id': 'br0', 'Type': 'bridge', 'Ports': ['vnet0', 'eth0', 'veth0', 'gone'], "
        "'SpeedBitsPerSecond': 10000000000, 'Addresses': ['192.0.2.1/24']}, "
        "{'Id': 'br0.5', 'Type': 'vlan', 'Parent': 'br0', 'SpeedBitsPerSecond': 10000000000}, "
        "{'Id': 'mv0', 'Type': 'ethernet', 'Parent': 'wlan0', 'SpeedBitsPerSecond': 400000000}, "
        "{'Id': 'wlan0', 'Type': 'wifi', 'SpeedBitsPerSecond': 400000000}, "
        "{'Id': 'eth1', 'Type': 'ethernet', 'SpeedBitsPerSecond': 1000000000}, "
        "{'Id': 'eth2', 'Type': 'ethernet', 'SpeedBitsPerSecond': 1000000000}, "
        "{'Id': 'eth3', 'Type': 'ethernet', 'Carrier': false, 'SpeedBitsPerSecond': 100000000}, "
        "{'Id': 'lag', 'Type': 'bond', 'Ports': ['eth1', 'eth2', 'eth3'], 'SpeedBitsPerSecond': 2000000000}, "
        "{'Id': 'mixed', 'Type': 'bond', 'Ports': ['eth1', 'wlan0']}, "
        "{'Id': 'wg0', 'Type': 'tunnel', 'Parent': 'eth1'}, "
        "{'Id': 'empty', 'Type': 'bridge'}, "
        "{'Id': 'a', 'Type': 'bridge', 'Ports': ['b']}, {'Id': 'b', 'Type': 'bridge', 'Ports': ['a']}, "
        "{'Id': 'tb0', 'Type': 'thunderbolt'}, {'Id': 'odd', 'Type': 'unknown'}]}";

static const AldFabric *fabric_of(AldStore *store)
{
        const AldNode *node = ald_store_local_node(store);

        return ald_node_as(node, FABRIC, AldFabric);
}

/* What carries the interface of a node: the port, its type and its speed. */
static void check_end(const char *name, const char *port, const char *type, uint64_t speed)
{
        g_autoptr(AldStore) store = state_make();
        AldPathEnd end;

        state_put(store, 1, ALD_KIND_NETWORK, interfaces);
        end = ald_path_end_find(state_network(store, 1), NULL, name, NULL);
        g_assert_cmpstr(end.port ? end.port->id : NULL, ==, port);
        g_assert_cmpstr(end.type, ==, type);
        g_assert_cmpuint(end.bits_per_second, ==, speed);
        g_assert_cmpuint(end.generation, ==, ALD_ABSENT_UINT64);
}

static void test_what_carries_an_interface(void)
{
        check_end("eth1", "eth1", "ethernet", GBIT);
        check_end("br0", "eth0", "ethernet", GBIT);
        check_end("br0.5", "eth0", "ethernet", GBIT);
        check_end("mv0", "wlan0", "wifi", GBIT * 4 / 10);
        check_end("lag", NULL, "ethernet", 2 * GBIT);
        check_end("mixed", NULL, NULL, ALD_ABSENT_UINT64);
        check_end("wg0", "wg0", "tunnel", ALD_ABSENT_UINT64);
        check_end("veth0", "veth0", "veth", ALD_ABSENT_UINT64);
        check_end("empty", NULL, NULL, ALD_ABSENT_UINT64);
        check_end("a", NULL, NULL, ALD_ABSENT_UINT64);
        check_end("odd", "odd", NULL, ALD_ABSENT_UINT64);
        check_end("gone", NULL, NULL, ALD_ABSENT_UINT64);
}

/* Whatever a peer says of its bridges, each is looked at once. */
static void test_bridges_in_circles(void)
{
        enum { BRIDGES = 30 };
        g_autoptr(GString) ports = g_string_new("'eth0'"), rows = g_string_new("{'Interfaces': [");
        g_autoptr(AldStore) store = state_make();
        AldPathEnd end;

        for (unsigned i = 0; i < BRIDGES; i++)
                g_string_append_printf(ports, ", 'br%u'", i);
        for (unsigned i = 0; i < BRIDGES; i++)
                g_string_append_printf(
                        rows, "{'Id': 'br%u', 'Type': 'bridge', 'Ports': [%s]}, ", i, ports->str);
        g_string_append(rows, "{'Id': 'eth0', 'Type': 'ethernet', 'SpeedBitsPerSecond': 1000000000}]}");
        state_put(store, 1, ALD_KIND_NETWORK, rows->str);
        end = ald_path_end_find(state_network(store, 1), NULL, "br7", NULL);
        g_assert_cmpstr(end.port->id, ==, "eth0");
        g_assert_cmpuint(end.bits_per_second, ==, GBIT);
}

static char *use_wlan(const char *bond, void *userdata)
{
        g_assert_cmpstr(bond, ==, userdata);
        return g_strdup("wlan0");
}

/* As many ports as a bridge can have are looked up, and no more. */
static void test_ports_without_end(void)
{
        for (unsigned n = 1023; n <= 1024; n++) {
                g_autoptr(AldStore) store = state_make();
                g_autoptr(GString) text = g_string_new("{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet'}, "
                                                       "{'Id': 'br0', 'Type': 'bridge', 'Ports': [");
                AldPathEnd end;

                for (unsigned i = 0; i < n; i++)
                        g_string_append_printf(text, "'p%u', ", i);
                g_string_append(text, "'eth0']}]}");
                state_put(store, 1, ALD_KIND_NETWORK, text->str);
                end = ald_path_end_find(state_network(store, 1), NULL, "br0", NULL);
                g_assert_cmpstr(end.port ? end.port->id : NULL, ==, n < 1024 ? "eth0" : NULL);
                g_assert_cmpstr(end.type, ==, n < 1024 ? "ethernet" : NULL);
        }
}

static void test_active_port_of_a_bond(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldNetwork *network;
        AldPathEnd end;

        state_put(store, 1, ALD_KIND_NETWORK, interfaces);
        network = state_network(store, 1);
        end = ald_path_end_of(
                network, NULL, ald_rows_find(&network->interfaces, "mixed"), use_wlan, (char *) "mixed");
        g_assert_cmpstr(end.port->id, ==, "wlan0");
        g_assert_cmpstr(end.type, ==, "wifi");
}

static void test_end_by_address(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldNetwork *network;

        state_put(store, 1, ALD_KIND_NETWORK, interfaces);
        state_put(store, 1, ALD_KIND_FABRIC,
                "{'ThunderboltPorts': [{'Id': '0-1', 'Interface': 'tb0', "
                "'Generation': 4}]}");
        network = state_network(store, 1);
        g_assert_cmpstr(ald_path_end_find(network, NULL, NULL, "192.0.2.1").type, ==, "ethernet");
        /* What the peer says counts, even where nothing is known of it. */
        g_assert_cmpstr(ald_path_end_find(network, NULL, "wlan0", "192.0.2.1").type, ==, "wifi");
        g_assert_null(ald_path_end_find(network, NULL, "gone", "192.0.2.1").type);
        g_assert_null(ald_path_end_find(network, NULL, NULL, "192.0.2.9").type);
        g_assert_null(ald_path_end_find(NULL, NULL, "eth0", "192.0.2.1").type);
        g_assert_cmpuint(ald_path_end_find(network, fabric_of(store), "tb0", NULL).generation, ==, 4);
}

static void test_type_of_a_path(void)
{
        static const char *const cases[][3] = {
                { "ethernet", "ethernet", "ethernet" },
                { "ethernet", "wifi", "wifi" },
                { "wifi", NULL, "wifi" },
                { "tunnel", "wifi", "wifi" },
                { "tunnel", "ethernet", "tunnel" },
                { "tunnel", NULL, "tunnel" },
                { "thunderbolt", "thunderbolt", "thunderbolt" },
                { "thunderbolt", "ethernet", "ethernet" },
                { "ethernet", NULL, NULL },
                { NULL, NULL, NULL },
                { "bridge", "ethernet", NULL },
                { "unknown", "ethernet", NULL },
                { "veth", "veth", "veth" },
                { "veth", "ethernet", "ethernet" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_assert_cmpstr(ald_path_type(cases[i][0], cases[i][1]), ==, cases[i][2]);
                g_assert_cmpstr(ald_path_type(cases[i][1], cases[i][0]), ==, cases[i][2]);
        }
        g_assert_cmpuint(ald_path_speed(GBIT, GBIT / 10), ==, GBIT / 10);
        g_assert_cmpuint(ald_path_speed(GBIT, ALD_ABSENT_UINT64), ==, GBIT);
        g_assert_cmpuint(ald_path_speed(ALD_ABSENT_UINT64, GBIT), ==, ALD_ABSENT_UINT64);
}

static void test_transport(void)
{
        static const char *const rocev2[] = { "0 rocev1 fe80::1", "1 rocev2 fe80::1 eth0", NULL };
        static const char *const rocev1[] = { "0 rocev1 fe80::1", NULL };
        const AldRdmaPort ib = { .link_layer = "infiniband" };
        const AldRdmaPort roce = { .link_layer = "ethernet", .gids = rocev2 };
        const AldRdmaPort iwarp = { .link_layer = "ethernet", .gids = rocev1 };

        g_assert_cmpstr(ald_path_rdma_transport(&ib, &ib), ==, "infiniband");
        g_assert_cmpstr(ald_path_rdma_transport(&roce, &roce), ==, "roce");
        g_assert_null(ald_path_rdma_transport(&roce, &iwarp));
        g_assert_null(ald_path_rdma_transport(&ib, &roce));
        g_assert_null(ald_path_rdma_transport(&ib, NULL));
}

/* A record of version 0.1.0 has no transport; that of others is no RoCE, although their link layer is. */
static void test_roce(void)
{
        g_assert_true(ald_rdma_port_is_roce(&(AldRdmaPort){ .link_layer = "ethernet" }));
        g_assert_true(ald_rdma_port_is_roce(&(AldRdmaPort){ .link_layer = "ethernet", .transport = "roce" }));
        g_assert_false(ald_rdma_port_is_roce(&(AldRdmaPort){ .link_layer = "infiniband" }));
        g_assert_false(
                ald_rdma_port_is_roce(&(AldRdmaPort){ .link_layer = "ethernet", .transport = "iwarp" }));
        g_assert_false(
                ald_rdma_port_is_roce(&(AldRdmaPort){ .link_layer = "ethernet", .transport = "other" }));
}

static void test_disturbance(void)
{
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        g_assert_false(ald_link_rate_is_disturbed(1000, ALD_ABSENT_DOUBLE, 20));
        g_assert_true(ald_link_rate_is_disturbed(1000, ALD_ABSENT_DOUBLE, 21));
        g_assert_true(ald_link_rate_is_disturbed(1000, 0.4, 21));
        g_assert_false(ald_link_rate_is_disturbed(1000, 5, 50));
        g_assert_true(ald_link_rate_is_disturbed(1000, 5, 51));
        /* Traffic that begins during the measurement widens the interval itself. */
        g_assert_true(ald_link_rate_is_disturbed(1000, 60, 101));
        g_assert_false(ald_link_rate_is_disturbed(ALD_ABSENT_UINT64, 5, 51));
        g_assert_false(ald_link_rate_is_disturbed(1000, 5, ALD_ABSENT_UINT64));
        link.upload.bits_per_second = link.download.bits_per_second = 1000;
        link.upload.other_bits_per_second = 20;
        g_assert_cmpuint(ald_link_disturbance(&link), ==, ALD_ABSENT_UINT64);
        link.upload.other_bits_per_second = 30;
        link.download.other_bits_per_second = 300;
        g_assert_cmpuint(ald_link_disturbance(&link), ==, 300);
        /* Of a spot check. */
        link.upload.bits_per_second = link.download.bits_per_second = ALD_ABSENT_UINT64;
        g_assert_cmpuint(ald_link_disturbance(&link), ==, ALD_ABSENT_UINT64);
        link.download.spot_bits_per_second = 1000;
        g_assert_cmpuint(ald_link_disturbance(&link), ==, 300);
}

static void test_steadiness(void)
{
        static const char *const flags[] = { "unsteady", "disturbed", NULL };

        g_assert_false(ald_link_percent_is_unsteady(25, 50));
        g_assert_true(ald_link_percent_is_unsteady(25.1, ALD_ABSENT_DOUBLE));
        g_assert_true(ald_link_percent_is_unsteady(ALD_ABSENT_DOUBLE, 50.1));
        g_assert_false(ald_link_percent_is_unsteady(ALD_ABSENT_DOUBLE, ALD_ABSENT_DOUBLE));
        g_assert_cmpfloat(ald_link_rate_most(1000, 10), ==, 1100);
        g_assert_cmpfloat(ald_link_rate_least(1000, 10), ==, 900);
        g_assert_cmpfloat(ald_link_rate_least(1000, 200), ==, 0);
        g_assert_cmpfloat(ald_link_rate_most(1000, ALD_ABSENT_DOUBLE), ==, 1000);
        g_assert_true(ald_link_has_flag(flags, ALD_LINK_DISTURBED));
        g_assert_false(ald_link_has_flag(flags, "x") || ald_link_has_flag(NULL, ALD_LINK_DISTURBED));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/path-end/carries", test_what_carries_an_interface);
        g_test_add_func("/path-end/circles", test_bridges_in_circles);
        g_test_add_func("/path-end/ports-without-end", test_ports_without_end);
        g_test_add_func("/path-end/active-port", test_active_port_of_a_bond);
        g_test_add_func("/path-end/address", test_end_by_address);
        g_test_add_func("/path-end/type", test_type_of_a_path);
        g_test_add_func("/path-end/transport", test_transport);
        g_test_add_func("/path-end/roce", test_roce);
        g_test_add_func("/path-end/disturbance", test_disturbance);
        g_test_add_func("/path-end/steadiness", test_steadiness);
        return g_test_run();
}
