/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/planner-text.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define HOUR (UINT64_C(3600) * 1000 * 1000)
#define MINUTE (UINT64_C(60) * 1000 * 1000)
#define NOW (1000 * HOUR)

/* Ports of InfiniBand in one subnet, named ib0.1, ib1.1 and so on, over the network of all. */
static void put_node_in(AldStore *store, unsigned node, unsigned n_ports, const char *prefix)
{
        g_autoptr(GString) rows = g_string_new(NULL);
        g_autofree char *fabric = NULL, *network = NULL;

        for (unsigned i = 0; i < n_ports; i++)
                g_string_append_printf(rows,
                        "%s{'Id': 'ib%u.1', 'LinkLayer': 'infiniband', 'State': 'active', "
                        "'RateBitsPerSecond': 1000000000, 'PortGuid': '0:0:%u:%u', 'Gids': ['0 ib "
                        "%s::%u:%u']}",
                        i > 0 ? ", " : "", i, node, i, prefix, node, i);
        fabric = g_strdup_printf("{'RdmaPorts': [%s]}", rows->str);
        network = g_strdup_printf(
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.%u/24']}]}", node);
        state_put(store, node, ALD_KIND_FABRIC, fabric);
        state_put(store, node, ALD_KIND_NETWORK, network);
        state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
}

static void put_node(AldStore *store, unsigned node, unsigned n_ports)
{
        put_node_in(store, node, n_ports, "fec0");
}

static void put_rdma(
        AldStore *store, unsigned source, unsigned port, unsigned sink, unsigned sink_port, const char *text)
{
        g_autofree char *from = g_strdup_printf("ib%u.1", port), *to = g_strdup_printf("ib%u.1", sink_port);

        state_put_ports(store, source, from, sink, to, text);
}

/* Over RDMA alone. */
static AldPlannerInput input_at(uint64_t now)
{
        AldPlannerInput input = planner_input(now);

        input.without[ALD_KIND_LINK_SOCKET] = true;
        return input;
}

static void check_at(AldStore *store, uint64_t now, const char *expected)
{
        const AldPlannerInput input = input_at(now);

        planner_check(store, &input, expected);
}

static AldStore *make_pair(unsigned own, unsigned theirs)
{
        AldStore *store = state_make();

        put_node(store, 1, own);
        put_node(store, 2, theirs);
        return store;
}

static char *measured_at(uint64_t when)
{
        return g_strdup_printf("{'UploadBitsPerSecond': 5, 'MeasuredUSec': %" G_GUINT64_FORMAT "}", when);
}

static char *failed_at(uint64_t when, unsigned failures)
{
        return g_strdup_printf("{'Failure': 'no-gid: x', 'FailedUSec': %" G_GUINT64_FORMAT
                               ", 'Failures': %u}",
                when, failures);
}

static void test_reasons(void)
{
        g_autoptr(AldStore) store = make_pair(1, 1);
        g_autofree char *measured = measured_at(NOW), *failed = failed_at(NOW, 1);

        check_at(store, NOW, "ib0.1 2 ib0.1 never over 10.0.0.2");
        put_rdma(store, 1, 0, 2, 0, measured);
        check_at(store, NOW + 6 * HOUR - 1, "");
        check_at(store, NOW + 6 * HOUR, "ib0.1 2 ib0.1 expired over 10.0.0.2");
        check_at(store, NOW - 1, "ib0.1 2 ib0.1 future over 10.0.0.2");
        put_rdma(store, 1, 0, 2, 0, failed);
        check_at(store, NOW + MINUTE / 2, "");
        check_at(store, NOW + MINUTE, "ib0.1 2 ib0.1 failed over 10.0.0.2");
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        check_at(store, NOW + MINUTE, "");
}

static void test_the_lower_id_measures(void)
{
        g_autoptr(AldStore) store = state_make_of(2, 1);
        g_autofree char *twice = failed_at(NOW, 2), *thrice = failed_at(NOW, 3), *good = measured_at(NOW);

        put_node(store, 1, 1);
        put_node(store, 2, 1);
        check_at(store, NOW, "");
        put_rdma(store, 1, 0, 2, 0, twice);
        check_at(store, NOW, "");
        put_rdma(store, 1, 0, 2, 0, thrice);
        check_at(store, NOW, "ib0.1 1 ib0.1 never over 10.0.0.1");
        put_rdma(store, 1, 0, 2, 0, good);
        check_at(store, NOW, "");
}

/* A member that lists the GUIDs of all others has no probes itself, but does not end those of the others. */
static void test_claimed_guids(void)
{
        g_autoptr(AldStore) store = make_pair(1, 1);

        put_node(store, 3, 1);
        state_put(store, 3, ALD_KIND_FABRIC,
                "{'RdmaPorts': [{'Id': 'ib0.1', 'LinkLayer': 'infiniband', 'State': 'active', "
                "'RateBitsPerSecond': 1000000000, 'PortGuid': '0:0:1:0', 'Gids': ['0 ib fec0::3']}, "
                "{'Id': 'ib1.1', 'LinkLayer': 'infiniband', 'State': 'active', "
                "'RateBitsPerSecond': 1000000000, 'PortGuid': '0:0:2:0', 'Gids': ['0 ib fec0::4']}]}");
        check_at(store, NOW, "ib0.1 2 ib0.1 never over 10.0.0.2");
}

/* One after the other, as only one is due with a peer at a time. Returns how many. */
static unsigned measure_all(AldStore *store)
{
        const AldPlannerInput input = input_at(NOW);
        g_autofree char *measured = measured_at(NOW);
        unsigned n = 0;

        for (;; n++) {
                g_autoptr(GArray) probes = ald_planner_compute(store, &input);
                const AldDueProbe *probe;

                if (probes->len == 0)
                        break;
                g_assert_cmpuint(probes->len, ==, 1);
                probe = &g_array_index(probes, AldDueProbe, 0);
                state_put_ports(store, 1, probe->source_port, 2, probe->sink_port, measured);
        }
        return n;
}

static void test_each_port_has_one(void)
{
        static const struct {
                unsigned own, theirs, pairs;
        } cases[] = { { 1, 1, 1 }, { 2, 2, 2 }, { 4, 2, 4 }, { 2, 4, 4 }, { 3, 2, 3 }, { 8, 8, 8 },
                { 1, 0, 0 } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = make_pair(cases[i].own, cases[i].theirs);

                g_assert_cmpuint(measure_all(store), ==, cases[i].pairs);
        }
}

/* A candidate is tried but where both have neighbours at the other for sure, and what a probe joined stays.
 */
static void test_candidates(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autofree char *measured = measured_at(NOW);

        put_node_in(store, 1, 2, "fe80");
        put_node_in(store, 2, 2, "fe80");
        put_rdma(store, 1, 0, 2, 1, measured);
        check_at(store, NOW, "ib1.1 2 ib0.1 never over 10.0.0.2");
        put_rdma(store, 1, 1, 2, 0, measured);
        check_at(store, NOW, "");
        check_at(store, NOW + 6 * HOUR, "ib0.1 2 ib1.1 expired over 10.0.0.2");
}

static void test_control_address(void)
{
        g_autoptr(AldStore) store = make_pair(1, 1);

        state_put(store, 1, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.1/24', "
                "'192.168.0.1/24', 'fe80::1/64']}]}");
        state_put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['10.0.0.2/24', "
                "'192.168.0.2/24', 'fe80::2/64']}]}");
        check_at(store, NOW, "ib0.1 2 ib0.1 never over 10.0.0.2");
        state_put_path(store, 1, 2, "10.0.0.2", "{'FailedUSec': 5, 'Failures': 1}");
        check_at(store, NOW, "ib0.1 2 ib0.1 never over 192.168.0.2");
        state_put_path(store, 1, 2, "fe80::2", "{'UploadBitsPerSecond': 5, 'MeasuredUSec': 5}");
        check_at(store, NOW, "ib0.1 2 ib0.1 never over fe80::2%eth0");
        state_put_path(store, 1, 2, "192.168.0.2", "{'UploadBitsPerSecond': 9, 'MeasuredUSec': 5}");
        check_at(store, NOW, "ib0.1 2 ib0.1 never over 192.168.0.2");
        /* None at all: nobody could be asked. */
        state_put(store, 2, ALD_KIND_NETWORK, "{'Interfaces': []}");
        check_at(store, NOW, "");
}

/* A port without an interface is one by itself, and is busy by its own counters. */
static void test_traffic(void)
{
        g_autoptr(AldStore) store = make_pair(2, 1);
        AldPlannerTraffic traffic = { "ib0.1", 100 * 1000 * 1000 + 1 };
        AldPlannerInput input = input_at(NOW);
        AldId peer = id_make(2);

        put_node(store, 3, 1);
        input.traffic = &traffic;
        input.n_traffic = 1;
        {
                g_autoptr(GArray) probes = ald_planner_compute(store, &input);

                for (guint i = 0; i < probes->len; i++)
                        g_assert_cmpstr(g_array_index(probes, AldDueProbe, i).source_port, ==, "ib1.1");
                g_assert_cmpuint(probes->len, ==, 1);
        }
        traffic.bits_per_second = ALD_TRAFFIC_BLOCKED;
        input.avoid = &peer;
        input.n_avoid = 1;
        planner_check(store, &input, "ib1.1 3 ib0.1 never over 10.0.0.3");
        traffic.interface = "ib1.1";
        planner_check(store, &input, "ib0.1 3 ib0.1 never over 10.0.0.3");
}

/* What the peer puts off keeps nothing else from being measured with it. */
static void test_deferred_paths(void)
{
        g_autoptr(AldStore) store = make_pair(2, 2);
        char id[ALD_ID_STRING_SIZE];
        const AldId peer = id_make(2);
        g_autofree char *first = g_strdup_printf("ib0.1,%s,ib0.1", ald_id_format(&peer, id));
        g_autofree char *second = g_strdup_printf("ib1.1,%s,ib1.1", id);
        const char *const paths[] = { first, second };
        g_autofree char *row = g_strdup_printf(
                "{'SourceInterface': 'eth0', 'MeasuredUSec': %" G_GUINT64_FORMAT "}", NOW - MINUTE * 6);
        AldPlannerInput input = input_at(NOW);

        input.deferred_paths = paths;
        input.n_deferred_paths = 1;
        planner_check(store, &input, "ib1.1 2 ib1.1 never over 10.0.0.2");
        state_put_path(store, 1, 2, "10.0.0.2", row);
        input.without[ALD_KIND_LINK_SOCKET] = false;
        input.n_deferred_paths = 2;
        planner_check(store, &input, "2 10.0.0.2 eth0 expired");
}

/* A path over sockets that the peer calls busy, whenever it is asked, comes after all else. */
static void test_deferred_sockets(void)
{
        static const char *const sockets[] = {
                "{'SourceInterface': 'eth0'}",
                "{'SourceInterface': 'eth0', 'MeasuredUSec': 5}",
                "{'SourceInterface': 'eth0', 'MeasuredUSec': 5, 'FailedUSec': 6, 'Failures': 1}",
        };
        static const char *const dues[] = { "never", "expired", "failed" };
        static const struct {
                const char *row, *due;
        } rdma[] = { { NULL, "never" }, { "{'MeasuredUSec': 7}", "expired" },
                { "{'FailedUSec': 8, 'Failures': 1}", "failed" } };
        g_autofree char *id = state_id(2), *key = g_strdup_printf("%s,10.0.0.2", id);
        const char *paths[] = { key };
        g_autofree char *fresh = measured_at(NOW);

        for (size_t i = 0; i < G_N_ELEMENTS(sockets) * G_N_ELEMENTS(rdma); i++) {
                g_autoptr(AldStore) store = make_pair(1, 1);
                AldPlannerInput input = planner_input(NOW);
                size_t a = i / G_N_ELEMENTS(rdma), b = i % G_N_ELEMENTS(rdma);
                g_autofree char *socket_due = g_strdup_printf("2 10.0.0.2 eth0 %s", dues[a]);
                g_autofree char *rdma_due = g_strdup_printf("ib0.1 2 ib0.1 %s over 10.0.0.2", rdma[b].due);

                state_put_path(store, 1, 2, "10.0.0.2", sockets[a]);
                if (rdma[b].row)
                        put_rdma(store, 1, 0, 2, 0, rdma[b].row);
                input.deferred_paths = paths;
                input.n_deferred_paths = 1;
                planner_check(store, &input, rdma_due);
                put_rdma(store, 1, 0, 2, 0, fresh);
                planner_check(store, &input, socket_due);
        }
}

/* Of two ports of each, over Ethernet; those of a bridge and without verbs are left to themselves. */
static void put_roce(AldStore *store, unsigned node, const char *problem, const char *controller)
{
        g_autofree char *network = g_strdup_printf(
                "{'Interfaces': [{'Id': 'br0', 'Type': 'bridge'}, {'Id': 'eth0', 'Type': 'ethernet', "
                "'Addresses': ['fe80::1:%u/64']%s}, {'Id': 'eth1', 'Type': 'ethernet', 'Addresses': "
                "['fe80::2:%u/64', '10.0.0.%u/24']}]}",
                node, controller, node, node);
        g_autofree char *fabric = g_strdup_printf(
                "{'RdmaPorts': [{'Id': 'rxe0.1', 'LinkLayer': 'ethernet', 'State': 'active', 'Interface': "
                "'eth0', 'Gids': ['1 rocev2 fe80::1:%u eth0']%s}, {'Id': 'rxe1.1', 'LinkLayer': 'ethernet', "
                "'State': 'active', 'Interface': 'eth1', 'Gids': ['1 rocev2 fe80::2:%u eth1']}]}",
                node, problem, node);

        state_put(store, node, ALD_KIND_NETWORK, network);
        state_put(store, node, ALD_KIND_FABRIC, fabric);
        state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
}

/* Of the same ports at both ends. */
static bool has_row(AldStore *store, const char *port)
{
        g_autofree char *id = state_id(2), *key = g_strdup_printf("%s,%s,%s", port, id, port);

        return ald_store_find(store, &ald_store_local_node(store)->id, ALD_KIND_LINK_RDMA, key);
}

static void test_ports_with_a_problem(void)
{
        static const struct {
                const char *own_problem, *own_controller, *problem, *controller;
                unsigned n; /* pairs of the first ports and of the second ones */
        } cases[] = {
                { "", "", "", "", 2 },
                { ", 'Problem': 'no-verbs'", "", "", "", 1 },
                { "", "", ", 'Problem': 'no-verbs'", "", 1 },
                { "", ", 'Controller': 'br0'", "", "", 1 },
                { "", "", "", ", 'Controller': 'br0'", 1 },
                { "", ", 'Controller': 'eth1'", "", "", 2 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();

                put_roce(store, 1, cases[i].own_problem, cases[i].own_controller);
                put_roce(store, 2, cases[i].problem, cases[i].controller);
                state_put_path(store, 1, 2, "fe80::1:2",
                        "{'SourceInterface': 'eth0', 'UploadBitsPerSecond': 9, 'MeasuredUSec': 5}");
                state_put_path(store, 1, 2, "fe80::2:2",
                        "{'SourceInterface': 'eth1', 'UploadBitsPerSecond': 9, 'MeasuredUSec': 5}");
                g_assert_cmpuint(measure_all(store), ==, cases[i].n);
                g_assert_cmpint(has_row(store, "rxe0.1"), ==, cases[i].n == 2);
                g_assert_true(has_row(store, "rxe1.1"));
        }
}

/* Over Ethernet it shares the interface with the probe of sockets. */
static void test_one_probe_an_interface(void)
{
        g_autoptr(AldStore) store = state_make();
        AldPlannerInput input = input_at(NOW);

        for (unsigned node = 1; node <= 3; node++) {
                g_autofree char *network = g_strdup_printf(
                        "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Addresses': ['fe80::%u/64', "
                        "'10.0.0.%u/24']}]}",
                        node, node);

                state_put(store, node, ALD_KIND_NETWORK, network);
                state_put(store, node, ALD_KIND_FABRIC,
                        "{'RdmaPorts': [{'Id': 'rxe0.1', 'LinkLayer': 'ethernet', 'State': 'active', "
                        "'Interface': "
                        "'eth0', 'Gids': ['1 rocev2 fe80::1 eth0']}]}");
                state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
        }
        planner_check(store, &input, "");
        for (unsigned node = 2; node <= 3; node++) {
                g_autofree char *address = g_strdup_printf("fe80::%u", node);
                g_autofree char *text = g_strdup_printf("{'SourceInterface': 'eth0', 'UploadBitsPerSecond': "
                                                        "9, 'MeasuredUSec': %" G_GUINT64_FORMAT "}",
                        NOW);

                state_put_path(store, 1, node, address, text);
        }
        planner_check(store, &input, "rxe0.1 2 rxe0.1 never over fe80::2%eth0");
        /* What was never measured over sockets comes first. */
        input.without[ALD_KIND_LINK_SOCKET] = false;
        planner_check(store, &input, "3 10.0.0.3 eth0 never");
        input.without[ALD_KIND_LINK_SOCKET] = true;
        input.without[ALD_KIND_LINK_RDMA] = true;
        planner_check(store, &input, "");
}

static void test_obsolete(void)
{
        g_autoptr(AldStore) store = make_pair(1, 1);
        g_autofree char *measured = measured_at(NOW);
        g_autoptr(GPtrArray) none = NULL, gone = NULL;

        put_rdma(store, 1, 0, 2, 0, measured);
        none = ald_planner_obsolete(store, 5, 10);
        g_assert_cmpuint(none->len, ==, 0);
        put_rdma(store, 1, 1, 2, 0, measured);
        put_rdma(store, 1, 0, 2, 1, measured);
        gone = ald_planner_obsolete(store, 5, 10);
        g_assert_cmpuint(gone->len, ==, 2);
}

/* A machine that has no ports any more after it began anew says nothing of them. */
static void test_obsolete_without_fabric(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autofree char *measured = measured_at(NOW);
        g_autoptr(GPtrArray) early = NULL, late = NULL;

        put_node(store, 1, 1);
        state_put(store, 2, ALD_KIND_NETWORK, "{'Interfaces': []}");
        put_rdma(store, 1, 0, 2, 0, measured);
        early = ald_planner_obsolete(store, 5, 10);
        g_assert_cmpuint(early->len, ==, 0);
        late = ald_planner_obsolete(store, UINT64_MAX, 10);
        g_assert_cmpuint(late->len, ==, 1);
}

/* As over sockets. */
static void test_first_beside_work(void)
{
        const AldPlannerInput late = input_at(NOW + 24 * HOUR);
        g_autofree char *busy = g_strdup_printf(
                "{'Starts': ['rdma'], 'Links': 'round-trips', 'BusySinceUSec': %" G_GUINT64_FORMAT "}", NOW);
        g_autofree char *measured = measured_at(NOW);

        for (unsigned node = 1; node <= 2; node++) {
                g_autoptr(AldStore) store = make_pair(1, 1);
                g_autoptr(GArray) probes = NULL;

                state_put(store, node, ALD_KIND_PROBE_POLICY, busy);
                check_at(store, NOW + 24 * HOUR - 1, "");
                check_at(store, NOW + 24 * HOUR, "ib0.1 2 ib0.1 never over 10.0.0.2");
                probes = ald_planner_compute(store, &late);
                g_assert_true(g_array_index(probes, AldDueProbe, 0).despite_work);
                put_rdma(store, 1, 0, 2, 0, measured);
                check_at(store, NOW + 24 * HOUR, "");
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/planner-rdma/reasons", test_reasons);
        g_test_add_func("/planner-rdma/lower-id", test_the_lower_id_measures);
        g_test_add_func("/planner-rdma/claimed-guids", test_claimed_guids);
        g_test_add_func("/planner-rdma/each-port", test_each_port_has_one);
        g_test_add_func("/planner-rdma/candidates", test_candidates);
        g_test_add_func("/planner-rdma/control-address", test_control_address);
        g_test_add_func("/planner-rdma/traffic", test_traffic);
        g_test_add_func("/planner-rdma/deferred", test_deferred_paths);
        g_test_add_func("/planner-rdma/deferred-sockets", test_deferred_sockets);
        g_test_add_func("/planner-rdma/ports-with-a-problem", test_ports_with_a_problem);
        g_test_add_func("/planner-rdma/one-an-interface", test_one_probe_an_interface);
        g_test_add_func("/planner-rdma/obsolete", test_obsolete);
        g_test_add_func("/planner-rdma/obsolete-without-fabric", test_obsolete_without_fabric);
        g_test_add_func("/planner-rdma/first-beside-work", test_first_beside_work);
        return g_test_run();
}
