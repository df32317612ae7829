/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link/interface-roles.h"
#include "state/link/path-candidates.h"
#include "tests/unit/state-maker.h"

/* Both networks as the rows of their interfaces; the candidates as "ADDRESS via INTERFACE", with "?" where a
 * route decides. */
static void check(const char *source, const char *sink, const char *expected)
{
        g_autoptr(AldStore) store = state_make();
        g_autofree char *from = g_strdup_printf("{'Interfaces': [%s]}", source);
        g_autofree char *to = g_strdup_printf("{'Interfaces': [%s]}", sink);
        g_autoptr(GString) found = g_string_new(NULL);
        g_autoptr(GArray) candidates = NULL;

        state_put(store, 1, ALD_KIND_NETWORK, from);
        state_put(store, 2, ALD_KIND_NETWORK, to);
        candidates = ald_candidates_compute(state_network(store, 1), state_network(store, 2));
        for (guint i = 0; i < candidates->len; i++) {
                const AldCandidate *candidate = &g_array_index(candidates, AldCandidate, i);

                g_string_append_printf(found, "%s%s via %s", i ? ", " : "", candidate->address,
                        candidate->interface ? candidate->interface->id : "?");
                g_assert_nonnull(candidate->sink_interface);
                g_assert_true(!candidate->link_local || candidate->interface);
        }
        g_assert_cmpstr(found->str, ==, expected);
}

#define LO "{'Id': 'lo', 'Type': 'loopback', 'Addresses': ['127.0.0.1/8', '::1/128']}, "
#define OWN LO "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24', 'fd00::1/64', 'fe80::1/64']}"

static void test_every_address_is_a_path(void)
{
        check(OWN, LO "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24', 'fd00::2/64']}",
                "10.0.0.2 via eth0, fd00::2 via eth0");
        check(OWN,
                LO "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24']}, "
                   "{'Id': 'b', 'Type': 'wifi', 'Addresses': ['10.0.0.3/24', '10.0.0.4/24']}",
                "10.0.0.2 via eth0, 10.0.0.3 via eth0, 10.0.0.4 via eth0");
        check(OWN, "", "");
        check("", OWN, "");
}

static void test_what_leads_nowhere(void)
{
        check(OWN,
                LO "{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': false, 'Addresses': ['10.0.0.2/24']}, "
                   "{'Id': 'd', 'Type': 'dummy', 'Addresses': ['10.0.0.3/24']}, "
                   "{'Id': 'p', 'Type': 'ethernet', 'Controller': 'br0', 'Addresses': ['10.0.0.4/24']}, "
                   "{'Id': 'v', 'Type': 'veth', 'Addresses': ['10.0.0.5/24']}",
                "");
        /* A metered one leads somewhere; what it is loaded with is for the planner. */
        check(OWN, "{'Id': 'm', 'Type': 'wifi', 'Metered': 'guess-yes', 'Addresses': ['10.0.0.5/24']}",
                "10.0.0.5 via eth0");
        /* The same address at both ends, and what is none of a single node. */
        check(OWN,
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24', '127.0.0.2/8', '0.0.0.0/0', "
                "'224.0.0.1/4', 'ff02::1/16', '::ffff:10.0.0.9/96', '::/0', 'ten/24', '10.0.0.7', "
                "'10.0.0.7/33', '10.0.0.7/x']}",
                "");
}

static void test_containers_and_virtual_machines(void)
{
        static const char containers[] =
                "{'Id': 'docker0', 'Type': 'bridge', 'Ports': ['veth1'], 'Addresses': ['172.17.0.1/16']}, "
                "{'Id': 'virbr0', 'Type': 'bridge', 'Ports': ['vnet0'], 'Addresses': ['192.168.122.1/24']}, "
                "{'Id': 'lxdbr0', 'Type': 'bridge', 'Addresses': ['10.9.0.1/24']}, "
                "{'Id': 'veth1', 'Type': 'veth', 'Controller': 'docker0', 'Addresses': ['fe80::7/64']}, "
                "{'Id': 'veth2', 'Type': 'veth', 'Addresses': ['10.8.0.1/24']}, "
                "{'Id': 'vnet0', 'Type': 'tunnel', 'Controller': 'virbr0', 'Addresses': ['fe80::8/64']}, "
                "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24']}";

        check(OWN, containers, "10.0.0.2 via eth0");
        /* A bridge that a real port is on is where the addresses of that port are. */
        check(OWN,
                "{'Id': 'br0', 'Type': 'bridge', 'Ports': ['eth0', 'vnet0'], 'Addresses': ['10.0.0.2/24']}, "
                "{'Id': 'eth0', 'Type': 'ethernet', 'Controller': 'br0'}, "
                "{'Id': 'vnet0', 'Type': 'tunnel', 'Controller': 'br0'}",
                "10.0.0.2 via eth0");
        /* Whoever has nothing but veth is a container, or simulated, and they lead to the others. */
        check(OWN, LO "{'Id': 'host0', 'Type': 'veth', 'Addresses': ['10.0.0.2/24']}", "10.0.0.2 via eth0");
}

static void check_on_link(const char *source, const char *address, bool on_link)
{
        g_autoptr(AldStore) store = state_make();
        g_autofree char *from = g_strdup_printf("{'Interfaces': [%s]}", source);
        g_autofree char *to = g_strdup_printf(
                "{'Interfaces': [{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['%s']}]}", address);
        g_autoptr(GArray) candidates = NULL;

        state_put(store, 1, ALD_KIND_NETWORK, from);
        state_put(store, 2, ALD_KIND_NETWORK, to);
        candidates = ald_candidates_compute(state_network(store, 1), state_network(store, 2));
        g_assert_cmpuint(candidates->len, ==, 1);
        g_assert_cmpint(g_array_index(candidates, AldCandidate, 0).on_link, ==, on_link);
}

/* The prefix at this end decides, not the one that the other end reports. */
static void test_on_link(void)
{
        static const char two[] =
                "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24', 'fe80::1/64']}, "
                "{'Id': 'b', 'Type': 'wifi', 'Addresses': ['10.0.0.11/24']}";

        check_on_link(OWN, "10.0.0.2/24", true);
        check_on_link(OWN, "10.0.1.2/8", false);
        check_on_link(OWN, "fd00::2/64", true);
        check_on_link(OWN, "2001:db8::1/64", false);
        /* Where a route chooses between two interfaces, both have the prefix. */
        check_on_link(two, "10.0.0.2/24", true);
        check_on_link(two, "10.0.1.2/24", false);
        check_on_link("{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['fe80::1/64']}", "fe80::2/64", true);
}

static void test_link_local(void)
{
        /* On one link by another prefix. */
        check(OWN, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::2/64', '10.0.0.2/24']}",
                "10.0.0.2 via eth0, fe80::2 via eth0");
        /* Where nothing says so, it means nothing. */
        check(OWN, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::2/64']}", "");
        check(OWN, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::2/64', '10.1.0.2/24']}",
                "10.1.0.2 via eth0");
        check(OWN, "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['169.254.3.4/16']}", "");
        /* A Thunderbolt cable has two ends. */
        /* Unless nobody has others. */
        check("{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::1/64', '169.254.0.1/16']}",
                "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['fe80::2/64']}, "
                "{'Id': 'b', 'Type': 'ethernet', 'Addresses': ['fe80::3/64']}",
                "fe80::2 via eth0, fe80::3 via eth0");
        check("{'Id': 'tb0', 'Type': 'thunderbolt', 'Addresses': ['fe80::1/64']}",
                "{'Id': 'thunderbolt1', 'Type': 'thunderbolt', 'Addresses': ['fe80::2/64']}",
                "fe80::2 via tb0");
}

/* The interfaces that are tried in turn for the last candidate, from the first attempt to one after this many
 * failures; `last` is that through which it was reached before, or NULL. */
static void check_turns(const char *source, const char *sink, const char *last, const char *expected)
{
        g_autoptr(AldStore) store = state_make();
        g_autofree char *from = g_strdup_printf("{'Interfaces': [%s]}", source);
        g_autofree char *to = g_strdup_printf("{'Interfaces': [%s]}", sink);
        g_autoptr(GString) found = g_string_new(NULL);
        g_autoptr(GArray) candidates = NULL;
        AldLinkSocket row = ALD_LINK_SOCKET_INIT;

        state_put(store, 1, ALD_KIND_NETWORK, from);
        state_put(store, 2, ALD_KIND_NETWORK, to);
        candidates = ald_candidates_compute(state_network(store, 1), state_network(store, 2));
        g_assert_cmpuint(candidates->len, >, 0);
        row.source_interface = last;
        for (row.failures = 0; row.failures < 4; row.failures++) {
                const AldInterface *interface = ald_candidate_choose(
                        &g_array_index(candidates, AldCandidate, candidates->len - 1), &row);

                g_string_append_printf(found, "%s%s", found->len > 0 ? " " : "", interface->id);
        }
        g_assert_cmpstr(found->str, ==, expected);
}

#define TWO_LINK_LOCAL                                                                \
        "{'Id': 'eth0', 'Type': 'ethernet', 'HardwareAddress': '02:00:00:00:00:01', " \
        "'Addresses': ['fe80::1/64']}, "                                              \
        "{'Id': 'eth1', 'Type': 'ethernet', 'HardwareAddress': '02:00:00:00:00:02', " \
        "'Addresses': ['fe80::4/64']}"
#define PEER_LINK_LOCAL                                                              \
        "{'Id': 'lan', 'Type': 'ethernet', 'HardwareAddress': '02:00:00:00:00:03', " \
        "'Addresses': ['fe80::2/64']}"

/* Behind which of several interfaces with the same prefix an address is. */
static void test_several_scopes(void)
{
        /* Where nothing is known each has its turn, from that on through which it was reached before. */
        check_turns(TWO_LINK_LOCAL, PEER_LINK_LOCAL, NULL, "eth0 eth1 eth0 eth1");
        check_turns(TWO_LINK_LOCAL, PEER_LINK_LOCAL, "eth1", "eth1 eth0 eth1 eth0");
        check_turns(TWO_LINK_LOCAL, PEER_LINK_LOCAL, "gone", "eth0 eth1 eth0 eth1");
        /* Both Thunderbolt cables may lead to the peer. */
        check_turns("{'Id': 'tb0', 'Type': 'thunderbolt', 'Addresses': ['fe80::1/64']}, "
                    "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::5/64', '10.0.0.1/24']}, "
                    "{'Id': 'tb1', 'Type': 'thunderbolt', 'Addresses': ['fe80::4/64']}",
                "{'Id': 'tb0', 'Type': 'thunderbolt', 'Addresses': ['fe80::2/64']}", NULL, "tb0 tb1 tb0 tb1");
        /* Another prefix decides. */
        check_turns("{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::1/64', '10.0.0.1/24']}, "
                    "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['fe80::4/64', '10.0.1.1/24']}",
                "{'Id': 'lan', 'Type': 'ethernet', 'Addresses': ['10.0.1.2/24', 'fe80::2/64']}", NULL,
                "eth1 eth1 eth1 eth1");
}

/* Nodes with these interfaces and LLDP neighbours: the path of the sink's last address. */
static void check_lldp(const char *source, const char *sink, const char *expected)
{
        g_autoptr(AldStore) store = state_make();
        g_autofree char *from = g_strdup_printf(
                "{'Interfaces': [" TWO_LINK_LOCAL "], 'Neighbours': [%s]}", source);
        g_autofree char *to = g_strdup_printf(
                "{'Interfaces': [" PEER_LINK_LOCAL "], 'Neighbours': [%s]}", sink);
        g_autoptr(GArray) candidates = NULL;
        const AldCandidate *candidate;

        state_put(store, 1, ALD_KIND_NETWORK, from);
        state_put(store, 2, ALD_KIND_NETWORK, to);
        candidates = ald_candidates_compute(state_network(store, 1), state_network(store, 2));
        g_assert_cmpuint(candidates->len, ==, 1);
        candidate = &g_array_index(candidates, AldCandidate, 0);
        g_assert_cmpuint(candidate->n_scopes, ==, 1);
        g_assert_cmpstr(candidate->interface->id, ==, expected);
}

static void test_lldp_tells_the_scope(void)
{
        check_lldp("{'Id': '1', 'Interface': 'eth1', 'ChassisId': 'x', 'PortId': '02:00:00:00:00:03'}", "",
                "eth1");
        check_lldp("{'Id': '1', 'Interface': 'eth1', 'ChassisId': '02:00:00:00:00:03', 'PortId': 'lan'}", "",
                "eth1");
        check_lldp("", "{'Id': '1', 'Interface': 'lan', 'ChassisId': 'x', 'PortId': '02:00:00:00:00:02'}",
                "eth1");
}

/* A node with as many link-local addresses as are considered, half of them on each of two interfaces, and
 * many other interfaces and neighbours. */
static void put_full_network(AldStore *store, unsigned node, const char *interfaces, const char *neighbour)
{
        g_autoptr(GString) text = g_string_new("{'Interfaces': [");

        for (unsigned i = 0; i < 2; i++) {
                g_string_append_printf(text, "{'Id': '%c', 'Type': 'bond', 'Addresses': [", 'a' + i);
                for (unsigned k = 0; k < 32; k++)
                        g_string_append_printf(text, "%s'fe80::%u:%u:%u/64'", k ? ", " : "", node, i + 1, k);
                g_string_append(text, "]}, ");
        }
        for (unsigned i = 0; i < 300; i++)
                g_string_append_printf(text, "{'Id': 'x%u'}, ", i);
        g_string_append_printf(text, "%s], 'Neighbours': [", interfaces);
        for (unsigned i = 0; i < 500; i++)
                g_string_append_printf(text, "{'Id': '%u', 'Interface': 'a', 'PortId': '%u'}, ", i, i);
        g_string_append_printf(text, "%s]}", neighbour);
        state_put(store, node, ALD_KIND_NETWORK, text->str);
}

/* Each row is read once; else each of 300 interfaces would be compared with each of 500 neighbours for each
 * of 4096 pairs of addresses. LLDP names ports of bonds, in whatever case. */
static void test_lldp_of_full_records(void)
{
        static const char ports[] = "{'Id': 'p', 'Controller': 'a', 'HardwareAddress': '02:00:00:00:00:0A'}, "
                                    "{'Id': 'q', 'Controller': 'b', 'HardwareAddress': '02:00:00:00:00:0B'}";
        static const char *const neighbours[] = {
                "{'Id': 'n', 'Interface': 'p', 'PortId': '02:00:00:00:00:0b'}",
                "{'Id': 'n', 'Interface': 'p', 'PortId': 'Q', 'ChassisId': '02:00:00:00:00:0a'}",
                "{'Id': 'n', 'Interface': 'a', 'PortId': 'b', 'ChassisId': '02:00:00:00:00:0a'}",
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(neighbours); i++) {
                g_autoptr(AldStore) store = state_make();
                g_autoptr(GArray) candidates = NULL;

                put_full_network(store, 1, ports, neighbours[i]);
                put_full_network(store, 2, ports, "{'Id': 'n', 'Interface': 'p', 'PortId': 'none'}");
                candidates = ald_candidates_compute(state_network(store, 2), state_network(store, 1));
                g_assert_cmpuint(candidates->len, ==, ALD_CANDIDATES_MAX);
                for (guint k = 0; k < ALD_CANDIDATES_MAX; k++) {
                        const AldCandidate *candidate = &g_array_index(candidates, AldCandidate, k);

                        g_assert_cmpstr(candidate->sink_interface->id, ==, "a");
                        g_assert_cmpuint(candidate->n_scopes, ==, 1);
                        g_assert_cmpstr(candidate->interface->id, ==, "b");
                }
        }
}

static void test_which_interface(void)
{
        static const char two[] = "{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/16']}, "
                                  "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['10.0.7.1/24']}";

        /* The longest prefix decides, by our own word. */
        check(two, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['10.0.7.2/24']}", "10.0.7.2 via eth1");
        check(two, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['10.0.8.2/24']}", "10.0.8.2 via eth0");
        /* Where cable and radio are in one net, a route does. */
        check("{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24']}, "
              "{'Id': 'eth1', 'Type': 'ethernet', 'Addresses': ['10.0.9.1/24', '10.0.9.2/24']}, "
              "{'Id': 'wlan0', 'Type': 'wifi', 'Addresses': ['10.0.0.11/24']}",
                "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24', '10.0.9.3/24']}",
                "10.0.0.2 via ?, 10.0.9.3 via eth1");
        /* And where it is in none. */
        check(two, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['192.0.2.1/24']}", "192.0.2.1 via ?");
        check(OWN, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['192.0.2.1/24']}", "192.0.2.1 via eth0");
        check(two, "{'Id': 'a', 'Type': 'ethernet', 'Addresses': ['2001:db8::1/64']}", "");
}

/* However many it says it has. */
static void test_limits(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GString)
                text = g_string_new("{'Interfaces': [{'Id': 'a', 'Type': 'ethernet', 'Addresses': [");
        g_autoptr(GArray) candidates = NULL;

        for (unsigned i = 0; i < 1000; i++)
                g_string_append_printf(text, "%s'10.0.%u.%u/8'", i ? ", " : "", i / 250, i % 250 + 2);
        g_string_append(text, "]}]}");
        state_put(store, 1, ALD_KIND_NETWORK, "{'Interfaces': [" OWN "]}");
        state_put(store, 2, ALD_KIND_NETWORK, text->str);
        candidates = ald_candidates_compute(state_network(store, 1), state_network(store, 2));
        g_assert_cmpuint(candidates->len, ==, ALD_CANDIDATES_MAX);
}

static void check_carrier(AldStore *store, const char *name, const char *expected)
{
        const AldNetwork *network = state_network(store, 1);
        const AldInterface *interface = ald_rows_find(&network->interfaces, name);

        g_assert_cmpstr(ald_network_find_carrier(network, interface)->id, ==, expected);
}

static void test_what_shares_a_carrier(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put(store, 1, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0'}, {'Id': 'eth0.5', 'Parent': 'eth0'}, "
                "{'Id': 'wg0', 'Parent': 'eth0.5'}, {'Id': 'p0', 'Controller': 'bond0'}, {'Id': 'bond0'}, "
                "{'Id': 'p0.7', 'Parent': 'p0'}, {'Id': 'a', 'Parent': 'b'}, {'Id': 'b', 'Parent': 'a'}, "
                "{'Id': 'c', 'Parent': 'gone'}]}");
        check_carrier(store, "eth0", "eth0");
        check_carrier(store, "wg0", "eth0");
        check_carrier(store, "p0.7", "bond0");
        check_carrier(store, "c", "c");
        check_carrier(store, "a", "a"); /* whoever says so: it ends */
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/candidates/every-address", test_every_address_is_a_path);
        g_test_add_func("/candidates/nowhere", test_what_leads_nowhere);
        g_test_add_func("/candidates/containers", test_containers_and_virtual_machines);
        g_test_add_func("/candidates/on-link", test_on_link);
        g_test_add_func("/candidates/link-local", test_link_local);
        g_test_add_func("/candidates/several-scopes", test_several_scopes);
        g_test_add_func("/candidates/lldp", test_lldp_tells_the_scope);
        g_test_add_func("/candidates/lldp-of-full-records", test_lldp_of_full_records);
        g_test_add_func("/candidates/interface", test_which_interface);
        g_test_add_func("/candidates/limits", test_limits);
        g_test_add_func("/candidates/carrier", test_what_shares_a_carrier);
        return g_test_run();
}
