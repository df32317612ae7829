/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/topology/segments.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/segments-text.h"
#include "tests/unit/state-maker.h"

static void online(AldStore *store, unsigned node)
{
        state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
}

static void put_ports(AldStore *store, unsigned node, const char *rows)
{
        g_autofree char *text = g_strdup_printf("{'RdmaPorts': [%s]}", rows);

        state_put(store, node, ALD_KIND_FABRIC, text);
        online(store, node);
}

static void check(AldStore *store, const char *expected)
{
        g_autoptr(GPtrArray) segments = segments_of_all(store);
        g_autofree char *text = segments_text(segments);

        g_assert_cmpstr(text, ==, expected);
}

/* By what the first n nodes tell. */
static void check_among(AldStore *store, unsigned n, const char *expected)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new(), segments = NULL;
        g_autofree char *text = NULL;

        for (unsigned i = n; i > 0; i--) {
                const AldId id = id_make(i);

                g_ptr_array_add(nodes, ald_store_find_node(store, &id));
        }
        segments = ald_segments_compute(store, nodes, NULL);
        text = segments_text(segments);
        g_assert_cmpstr(text, ==, expected);
}

/* Thunderbolt */

static void put_host(AldStore *store, unsigned node, const char *domains, const char *rows)
{
        g_autofree char *text = g_strdup_printf(
                "{'ThunderboltDomains': [%s], 'ThunderboltPorts': [%s]}", domains, rows);

        state_put(store, node, ALD_KIND_FABRIC, text);
        online(store, node);
}

#define DOMAIN_A "{'Id': 'domain0', 'DomainId': 'aa-1'}"
#define DOMAIN_B "{'Id': 'domain0', 'DomainId': 'bb-2'}"
#define SEES_B "{'Id': '0-1', 'DomainId': 'aa-1', 'PeerDomainId': 'bb-2'}"
#define SEES_A "{'Id': '0-3', 'DomainId': 'bb-2', 'PeerDomainId': 'aa-1'}"

static void test_thunderbolt_needs_both(void)
{
        g_autoptr(AldStore) store = state_make();

        put_host(store, 1, DOMAIN_A, SEES_B);
        check(store, "");
        put_host(store, 2, DOMAIN_B, "");
        check(store, "");
        put_host(store, 2, DOMAIN_B, SEES_A);
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
        put_host(store, 2, DOMAIN_B, "{'Id': '0-3', 'DomainId': 'BB-2', 'PeerDomainId': 'AA-1'}");
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
        put_host(store, 1, DOMAIN_A, "");
        check(store, "");
}

static void test_thunderbolt_of_who_is_gone(void)
{
        g_autoptr(AldStore) store = state_make();

        put_host(store, 1, DOMAIN_A, SEES_B);
        put_host(store, 2, DOMAIN_B, SEES_A);
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'stale'}");
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        check(store, "");
}

static void test_thunderbolt_two_cables(void)
{
        g_autoptr(AldStore) store = state_make();

        put_host(store, 1, DOMAIN_A, SEES_B ", {'Id': '0-3', 'DomainId': 'aa-1', 'PeerDomainId': 'bb-2'}");
        put_host(store, 2, DOMAIN_B, SEES_A);
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 1 0-3, 2 0-3");
}

static void test_thunderbolt_loop(void)
{
        g_autoptr(AldStore) store = state_make();

        put_host(store, 1, DOMAIN_A ", {'Id': 'domain1', 'DomainId': 'bb-2'}", SEES_B ", " SEES_A);
        check(store, "");
}

/* A third one that says it is B too: none of both is, until one of them is gone. */
static void test_claimed_twice(void)
{
        g_autoptr(AldStore) store = state_make();

        put_host(store, 1, DOMAIN_A, SEES_B);
        put_host(store, 2, DOMAIN_B, SEES_A);
        put_host(store, 3, "", SEES_A);
        check(store, "");
        state_put(store, 3, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
        put_host(store, 3, "", "{'Id': '0-1', 'DomainId': 'aa-1', 'PeerDomainId': 'cc-3'}");
        check(store, "");
}

/* A node that claims what belongs to two others loses it, and they keep it. */
static void test_claims_of_several(void)
{
        g_autoptr(AldStore) store = state_make();

        put_host(store, 1, DOMAIN_A, SEES_B);
        put_host(store, 2, DOMAIN_B, SEES_A);
        put_host(store, 3, DOMAIN_A ", {'Id': 'domain1', 'DomainId': 'BB-2'}", SEES_A ", " SEES_B);
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
        check_among(store, 2, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
        check_among(store, 3, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3");
}

/* LLDP */

static void put_lldp(AldStore *store, unsigned node, const char *interfaces, const char *neighbours)
{
        g_autofree char *text = g_strdup_printf(
                "{'Interfaces': [%s], 'Neighbours': [%s]}", interfaces, neighbours);

        state_put(store, node, ALD_KIND_NETWORK, text);
        online(store, node);
}

#define ETH_A "{'Id': 'eth0', 'HardwareAddress': '52:54:00:00:00:0a'}"
#define ETH_B "{'Id': 'eth1', 'HardwareAddress': '52:54:00:00:00:0b'}"
#define HEARS_B "{'Id': 'x', 'Interface': 'eth0', 'ChassisId': 'some', 'PortId': '52:54:00:00:00:0B'}"
#define HEARS_A "{'Id': 'y', 'Interface': 'eth1', 'ChassisId': '52:54:00:00:00:0A', 'PortId': 'eth0'}"

static void test_lldp(void)
{
        g_autoptr(AldStore) store = state_make();

        put_lldp(store, 1, ETH_A, HEARS_B);
        put_lldp(store, 2, ETH_B, HEARS_A);
        check(store, "lldp: 1 eth0, 2 eth1");
        /* By one alone it is a candidate, whichever. */
        put_lldp(store, 2, ETH_B, "");
        check(store, "lldp?: 1 eth0, 2 eth1");
        put_lldp(store, 2, ETH_B, HEARS_A);
        put_lldp(store, 1, ETH_A, "");
        check(store, "lldp?: 1 eth0, 2 eth1");
        put_lldp(store, 1, "{'Id': 'eth0', 'HardwareAddress': '52:54:00:00:00:0a', 'Carrier': false}", "");
        check(store, "");
        put_lldp(store, 1, ETH_A, HEARS_B);
        check(store, "lldp: 1 eth0, 2 eth1");
        put_lldp(store, 2, "", "");
        check(store, "");
}

static void test_lldp_says_little(void)
{
        static const char *const strange[] = {
                "{'Id': 'x', 'Interface': 'eth0'}",
                "{'Id': 'x', 'Interface': 'eth0', 'PortId': 'eth1'}",
                "{'Id': 'x', 'Interface': 'eth0', 'ChassisId': '52:54:00:00:00:0b'}",
                "{'Id': 'x', 'Interface': 'eth0', 'ChassisId': '52:54:00:00:00:0b', 'PortId': 'eth7'}",
                "{'Id': 'x', 'Interface': 'eth7', 'PortId': '52:54:00:00:00:0b'}",
                "{'Id': 'x', 'PortId': '52:54:00:00:00:0b'}",
                /* Of two nodes at once, and of itself. */
                ("{'Id': 'x', 'Interface': 'eth0', 'ChassisId': '52:54:00:00:00:0c', "
                 "'PortId': '52:54:00:00:00:0b'}"),
                "{'Id': 'x', 'Interface': 'eth0', 'PortId': '52:54:00:00:00:0a'}",
        };
        g_autoptr(AldStore) store = state_make();

        put_lldp(store, 2, ETH_B, "");
        put_lldp(store, 3, "{'Id': 'eth0', 'HardwareAddress': '52:54:00:00:00:0c'}", "");
        for (size_t i = 0; i < G_N_ELEMENTS(strange); i++) {
                put_lldp(store, 1, ETH_A, strange[i]);
                check(store, "");
        }
}

/* A bond and its ports have one address, so it says nothing of which is meant; their names do. */
static void test_lldp_of_bonds(void)
{
        static const char rows[] =
                "{'Id': 'bond0', 'HardwareAddress': '52:54:00:00:00:0b'}, "
                "{'Id': 'eth1', 'HardwareAddress': '52:54:00:00:00:0b', 'Controller': 'bond0'}, "
                "{'Id': 'eth2', 'HardwareAddress': '52:54:00:00:00:0b', 'Controller': 'bond0'}";
        g_autoptr(AldStore) store = state_make();

        put_lldp(store, 2, rows, "");
        put_lldp(store, 1, ETH_A, HEARS_B);
        check(store, "");
        put_lldp(store, 1, ETH_A,
                "{'Id': 'x', 'Interface': 'eth0', 'ChassisId': '52:54:00:00:00:0b', 'PortId': 'eth2'}");
        check(store, "lldp?: 1 eth0, 2 eth2");
}

/* InfiniBand */

#define IB(id, prefix, guid)                                                                      \
        "{'Id': '" id "', 'LinkLayer': 'infiniband', 'State': 'active', 'PortGuid': '0:0:0:" guid \
        "', 'Gids': ['0 ib " prefix "::" guid "']}"

static void test_subnets(void)
{
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 1, IB("mlx5_0.1", "fec0", "1") ", " IB("mlx5_1.1", "fec1", "2"));
        check(store, "");
        put_ports(store, 2, IB("mlx5_0.1", "fec0", "3") ", " IB("mlx5_1.1", "fec1", "4"));
        put_ports(store, 3, IB("mlx4_0.2", "fec1", "5"));
        check(store, "infiniband fec0::/64: 1 mlx5_0.1, 2 mlx5_0.1; "
                     "infiniband fec1::/64: 1 mlx5_1.1, 2 mlx5_1.1, 3 mlx4_0.2");
        put_ports(store, 2, "");
        check(store, "infiniband fec1::/64: 1 mlx5_1.1, 3 mlx4_0.2");
}

static void put_rdma(AldStore *store, unsigned source, unsigned sink, const char *text)
{
        g_autofree char *json = g_strdup_printf(
                "{'SourcePort': 'mlx5_0.1', 'SinkPort': 'mlx5_0.1', %s}", text);

        state_put_link(store, ALD_KIND_LINK_RDMA, source, sink, 1, json);
}

static void test_default_subnet(void)
{
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 1, IB("mlx5_0.1", "fe80", "1"));
        put_ports(store, 2, IB("mlx5_0.1", "fe80", "2"));
        check(store, "infiniband? fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1");
        put_rdma(store, 2, 1, "'Failure': 'x', 'FailedUSec': 5");
        check(store, "infiniband? fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1");
        put_rdma(store, 2, 1, "'UploadBitsPerSecond': 5, 'MeasuredUSec': 7, 'FailedUSec': 5");
        check(store, "infiniband fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1");
        put_ports(store, 3, IB("mlx5_0.1", "fe80", "3"));
        check(store, "infiniband fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1; "
                     "infiniband? fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1, 3 mlx5_0.1");
        put_rdma(store, 3, 2, "'DownloadBitsPerSecond': 5, 'MeasuredUSec': 7");
        check(store, "infiniband fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1, 3 mlx5_0.1");
        put_rdma(store, 2, 1, "'UploadBitsPerSecond': 5, 'MeasuredUSec': 7, 'FailedUSec': 8");
        check(store, "infiniband? fe80::/64: 1 mlx5_0.1, 2 mlx5_0.1, 3 mlx5_0.1; "
                     "infiniband fe80::/64: 2 mlx5_0.1, 3 mlx5_0.1");
}

static void test_ports_that_do_not_count(void)
{
        static const char *const rows[] = {
                "{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'down', 'Gids': ['0 ib fec0::2']}",
                "{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'init', 'Gids': ['0 ib fec0::2']}",
                "{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'active'}",
                "{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'active', 'Gids': ['0']}",
                "{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'active', 'Gids': ['0 ib moon']}",
                "{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'Gids': ['0 ib fec0::2']}",
                "{'Id': 'mlx5_0.1', 'State': 'active', 'Gids': ['0 ib fec0::2']}",
                IB("mlx5_0.1", "fec0", "1"), /* the GUID of the other one */
        };
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 1, IB("mlx5_0.1", "fec0", "1"));
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                put_ports(store, 2, rows[i]);
                check(store, "");
        }
        put_ports(store, 2, IB("mlx5_0.1", "fec0", "2"));
        check(store, "infiniband fec0::/64: 1 mlx5_0.1, 2 mlx5_0.1");
}

/* RoCE */

#define ROCE(id, interface)                                                                                \
        "{'Id': '" id                                                                                      \
        "', 'LinkLayer': 'ethernet', 'State': 'active', 'Interface': '" interface "', 'Gids': ['1 rocev2 " \
        "fe80::1 " interface "']}"

static void put_interfaces(AldStore *store, unsigned node, const char *rows)
{
        g_autofree char *text = g_strdup_printf("{'Interfaces': [%s]}", rows);

        state_put(store, node, ALD_KIND_NETWORK, text);
}

static void put_reached(
        AldStore *store, unsigned source, const char *interface, unsigned sink, const char *address)
{
        g_autofree char *text = g_strdup_printf(
                "{'SourceInterface': '%s', 'UploadBitsPerSecond': 5, 'MeasuredUSec': 5}", interface);

        state_put_path(store, source, sink, address, text);
}

static AldStore *make_roce(void)
{
        AldStore *store = state_make();

        put_ports(store, 1, ROCE("rxe0.1", "eth0"));
        put_ports(store, 2, ROCE("rxe0.1", "eth1"));
        put_interfaces(store, 1, "{'Id': 'eth0', 'Addresses': ['fe80::a/64', '10.0.0.1/8']}");
        put_interfaces(store, 2, "{'Id': 'eth1', 'Addresses': ['fe80::b/64', '10.0.0.2/8']}");
        return store;
}

static void test_roce_joined_by_link_local(void)
{
        g_autoptr(AldStore) store = make_roce();

        check(store, "");
        /* By an address of the same net it is likely, by another not. */
        put_reached(store, 1, "eth0", 2, "10.0.0.2");
        check(store, "roce?: 1 rxe0.1, 2 rxe0.1");
        put_interfaces(
                store, 1, "{'Id': 'eth0', 'Addresses': ['fe80::a/64', '11.0.0.1/8', '10.0.0.3/32', 'x/8']}");
        check(store, "");
        put_reached(store, 1, "eth0", 2, "fe80::b");
        check(store, "roce: 1 rxe0.1, 2 rxe0.1");
        state_put_path(store, 1, 2, "fe80::b",
                "{'SourceInterface': 'eth0', 'UploadBitsPerSecond': 5, 'MeasuredUSec': 5, 'FailedUSec': 6}");
        check(store, "");
        put_reached(store, 1, "eth0", 2, "fe80::b");
        put_interfaces(store, 2, "{'Id': 'eth1', 'Addresses': ['fe80::c/64']}");
        check(store, "");
        put_interfaces(store, 2, "{'Id': 'eth1', 'Addresses': ['fe80::b/64']}");
        put_reached(store, 1, "eth7", 2, "fe80::b");
        check(store, "");
}

/* By way of a third one, which needs no port. */
static void test_roce_joined_by_another(void)
{
        g_autoptr(AldStore) store = make_roce();

        put_interfaces(store, 3, "{'Id': 'eth5', 'Addresses': ['fe80::d/64']}");
        online(store, 3);
        put_reached(store, 1, "eth0", 3, "fe80::d");
        check(store, "");
        put_reached(store, 2, "eth1", 3, "fe80::d");
        check(store, "roce: 1 rxe0.1, 2 rxe0.1");
        state_put(store, 3, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        check(store, "");
}

static void test_roce_below_vlans(void)
{
        g_autoptr(AldStore) store = make_roce();

        put_interfaces(store, 2,
                "{'Id': 'eth1', 'Addresses': ['fe80::b/64']}, "
                "{'Id': 'eth1.7', 'Parent': 'eth1', 'Addresses': ['fe80::b/64']}");
        put_reached(store, 1, "eth0", 2, "fe80::b");
        check(store, "roce: 1 rxe0.1, 2 rxe0.1");
        /* On two links the same: nobody knows which. */
        put_interfaces(store, 2,
                "{'Id': 'eth1', 'Addresses': ['fe80::b/64']}, {'Id': 'eth2', 'Addresses': ['fe80::b/64']}");
        check(store, "");
}

static void test_roce_joined_by_cables(void)
{
        g_autoptr(AldStore) store = make_roce();
        static const char a[] = "{'RdmaPorts': [" ROCE(
                "rxe0.1", "thunderbolt0") "], 'ThunderboltDomains': [" DOMAIN_A
                                          "], 'ThunderboltPorts': [{'Id': '0-1', 'DomainId': 'aa-1', "
                                          "'PeerDomainId': 'bb-2', "
                                          "'Interface': 'thunderbolt0'}]}";
        static const char b[] = "{'RdmaPorts': [" ROCE(
                "rxe0.1", "thunderbolt1") "], 'ThunderboltDomains': [" DOMAIN_B
                                          "], 'ThunderboltPorts': [{'Id': '0-3', 'DomainId': 'bb-2', "
                                          "'PeerDomainId': 'aa-1', "
                                          "'Interface': 'thunderbolt1'}]}";

        put_lldp(store, 1, ETH_A, HEARS_B);
        put_lldp(store, 2, ETH_B, HEARS_A);
        check(store, "lldp: 1 eth0, 2 eth1; roce: 1 rxe0.1, 2 rxe0.1");
        put_lldp(store, 2, ETH_B, "");
        check(store, "lldp?: 1 eth0, 2 eth1; roce?: 1 rxe0.1, 2 rxe0.1");
        put_lldp(store, 1, ETH_A, "");
        state_put(store, 1, ALD_KIND_FABRIC, a);
        state_put(store, 2, ALD_KIND_FABRIC, b);
        check(store, "thunderbolt aa-1,bb-2: 1 0-1, 2 0-3; roce: 1 rxe0.1, 2 rxe0.1");
}

/* Claims that findings tell of */

static void note_contested(const char *name, GPtrArray *nodes, void *userdata)
{
        g_string_append_printf(userdata, "%s:%u ", name, nodes->len);
}

/* What others tell does not count, but that something is theirs too. */
static void test_among_some(void)
{
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 1, IB("mlx5_0.1", "fec0", "1"));
        put_ports(store, 2, IB("mlx5_0.1", "fec0", "2"));
        put_ports(store, 3, IB("mlx5_0.1", "fec0", "3"));
        check_among(store, 3, "infiniband fec0::/64: 1 mlx5_0.1, 2 mlx5_0.1, 3 mlx5_0.1");
        check_among(store, 2, "infiniband fec0::/64: 1 mlx5_0.1, 2 mlx5_0.1");
        check_among(store, 1, "");
        put_ports(store, 3, IB("mlx5_0.1", "fec0", "2"));
        check_among(store, 2, "");
        state_put(store, 3, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        check_among(store, 2, "infiniband fec0::/64: 1 mlx5_0.1, 2 mlx5_0.1");
}

/* One node lists the GUIDs of all others, even before it has a port of its own and whatever its id. */
static void check_liar(unsigned liar)
{
        static const char all[] = "infiniband fec0::/64: 2 mlx5_0.1, 3 mlx5_0.1, 4 mlx5_0.1";
        g_autoptr(AldStore) store = state_make();
        g_autoptr(AldOwners) owners = NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        put_ports(store, 2, IB("mlx5_0.1", "fec0", "2"));
        put_ports(store, 3, IB("mlx5_0.1", "fec0", "3"));
        put_ports(store, 4, IB("mlx5_0.1", "fec0", "4"));
        put_ports(store, liar,
                IB("mlx5_0.1", "fec0", "2") ", " IB("mlx5_1.1", "fec0", "3") ", " IB(
                        "mlx5_2.1", "fec0", "4"));
        check(store, all);
        owners = ald_owners_new(store, NULL);
        ald_owners_foreach_contested(owners, note_contested, text);
        g_assert_cmpstr(text->str, ==, "0:0:0:2:2 0:0:0:3:2 0:0:0:4:2 ");
}

static void test_a_node_that_claims_all(void)
{
        check_liar(1);
        check_liar(5);
}

/* Two cloned cards belong to nobody, whoever else claims their GUID. */
static void test_clones_among_lies(void)
{
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 1, IB("mlx5_0.1", "fec0", "1"));
        put_ports(store, 2, IB("mlx5_0.1", "fec0", "7"));
        put_ports(store, 3, IB("mlx5_0.1", "fec0", "7"));
        put_ports(store, 4, IB("mlx5_0.1", "fec0", "4"));
        check(store, "infiniband fec0::/64: 1 mlx5_0.1, 4 mlx5_0.1");
        put_ports(store, 5, IB("mlx5_0.1", "fec0", "7") ", " IB("mlx5_1.1", "fec0", "4"));
        check(store, "infiniband fec0::/64: 1 mlx5_0.1, 4 mlx5_0.1");
}

/* Only some nodes are looked at, but those of which the other contests more are counted, too. */
static void test_claims_beyond_some(void)
{
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 1, IB("mlx5_0.1", "fec0", "1"));
        put_ports(store, 2, IB("mlx5_0.1", "fec0", "2"));
        put_ports(store, 3, IB("mlx5_0.1", "fec0", "3"));
        put_ports(store, 4, IB("mlx5_0.1", "fec0", "2") ", " IB("mlx5_1.1", "fec0", "3"));
        check_among(store, 2, "infiniband fec0::/64: 1 mlx5_0.1, 2 mlx5_0.1");
}

/* A GUID among the addresses of interfaces is no claim to the device. */
static void test_a_guid_as_an_address(void)
{
        g_autoptr(AldStore) store = state_make();

        put_ports(store, 2, IB("mlx5_0.1", "fec0", "2"));
        put_ports(store, 3, IB("mlx5_0.1", "fec0", "3"));
        put_lldp(store, 1, "{'Id': 'eth0', 'HardwareAddress': '0:0:0:2'}", "");
        check(store, "infiniband fec0::/64: 2 mlx5_0.1, 3 mlx5_0.1");
}

static void test_what_is_contested(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(AldOwners) owners = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        static const char row[] =
                "{'Id': 'rxe0.1', 'NodeGuid': '5054:00ff:fe00:000A'}, {'Id': 'rxe1.1', 'NodeGuid': "
                "'0000:0000:0000:0000'}";

        put_ports(store, 2, row);
        put_ports(store, 3, row);
        put_ports(store, 4, IB("mlx5_0.1", "fec0", "9") ", " IB("mlx5_1.1", "fec0", "9"));
        put_lldp(store, 2, ETH_A, "");
        put_lldp(store, 3, ETH_A, "");
        owners = ald_owners_new(store, NULL);
        ald_owners_foreach_contested(owners, note_contested, text);
        g_assert_cmpstr(text->str, ==, "5054:00ff:fe00:000a:2 ");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/segments/thunderbolt/both", test_thunderbolt_needs_both);
        g_test_add_func("/segments/thunderbolt/gone", test_thunderbolt_of_who_is_gone);
        g_test_add_func("/segments/thunderbolt/two-cables", test_thunderbolt_two_cables);
        g_test_add_func("/segments/thunderbolt/loop", test_thunderbolt_loop);
        g_test_add_func("/segments/thunderbolt/claimed-twice", test_claimed_twice);
        g_test_add_func("/segments/thunderbolt/claims-of-several", test_claims_of_several);
        g_test_add_func("/segments/lldp", test_lldp);
        g_test_add_func("/segments/lldp/strange", test_lldp_says_little);
        g_test_add_func("/segments/lldp/bonds", test_lldp_of_bonds);
        g_test_add_func("/segments/infiniband/subnets", test_subnets);
        g_test_add_func("/segments/infiniband/default", test_default_subnet);
        g_test_add_func("/segments/infiniband/not-ready", test_ports_that_do_not_count);
        g_test_add_func("/segments/roce/link-local", test_roce_joined_by_link_local);
        g_test_add_func("/segments/roce/another", test_roce_joined_by_another);
        g_test_add_func("/segments/roce/vlans", test_roce_below_vlans);
        g_test_add_func("/segments/roce/cables", test_roce_joined_by_cables);
        g_test_add_func("/segments/among-some", test_among_some);
        g_test_add_func("/segments/contested", test_what_is_contested);
        g_test_add_func("/segments/contested/all", test_a_node_that_claims_all);
        g_test_add_func("/segments/contested/clones", test_clones_among_lies);
        g_test_add_func("/segments/contested/beyond", test_claims_beyond_some);
        g_test_add_func("/segments/contested/address", test_a_guid_as_an_address);
        return g_test_run();
}
