/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nothing is planned that the commands for an engine cannot express. */
#include "placement/report/plan-description.h"
#include "placement/report/sentences.h"
#include "tests/unit/placement/plan-cases.h"

#define GB UINT64_C(1000000000)

/* GPUs of node n0 are numbers 0 and n, and so on. */
static void add_gpus(PlanCase *made, uint32_t n)
{
        static const char *const ids[] = { "gpu1", "gpu2", "gpu3" };
        uint32_t n_nodes = made->cluster.n_nodes;

        for (uint32_t i = 0; i < n; i++, made->cluster.n_devices++) {
                made->devices[n_nodes + i] = made->devices[i % n_nodes];
                made->devices[n_nodes + i].id = ids[i / n_nodes];
        }
}

static void join_all(PlanCase *made)
{
        for (uint32_t i = 0; i < made->cluster.n_nodes; i++)
                for (uint32_t j = 0; j < made->cluster.n_nodes; j++)
                        if (i != j)
                                plan_case_join(made, i, j, 1e6, 1e9);
}

/* Two GPUs of n0 and one of n1. */
static void init_uneven(PlanCase *made, const char *engine, uint64_t free_bytes)
{
        plan_case_init(made, engine, 2);
        add_gpus(made, 1);
        join_all(made);
        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                made->devices[i].free_bytes = free_bytes;
}

static void assert_sentence(const PlanCase *made, const char *expected)
{
        g_autofree char *text = NULL;
        AldPlanRefusal refusal = { 0 };

        g_assert_null(plan_case_try(made, &refusal));
        text = ald_plan_refusal_sentence(&made->cluster, &made->request, &refusal);
        g_assert_cmpstr(text, ==, expected);
        g_free(refusal.verdicts);
}

static void assert_verdict(const PlanCase *made, const AldPlan *plan, uint32_t device, const char *expected)
{
        g_autofree char *text = ald_plan_verdict_sentence(
                &made->cluster, &made->request, device, &plan->verdicts[device]);

        g_assert_cmpstr(text, ==, expected);
}

static void test_even(void)
{
        static const char *const all[] = { "n0/gpu", "n0/gpu1", "n1/gpu", NULL };
        g_autoptr(AldPlan) three = NULL, two = NULL;
        PlanCase made;

        init_uneven(&made, "torch", 5 * GB / 2);
        three = plan_case_plan(&made);
        g_assert_cmpuint(three->best.n_stages, ==, 3);
        made.request.engine = ald_plan_engine_find("vllm");
        assert_sentence(&made,
                "It takes more GPUs of one node than of another one; vllm needs as many of each, "
                "which do not suffice.");
        made.request.engine = ald_plan_engine_find("sglang");
        plan_case_assert_refused(&made, ALD_PLAN_NODES_UNEVEN, NULL);
        /* They fit on two, but not with one of each node. */
        init_uneven(&made, "vllm", 7 * GB / 2);
        made.devices[1].free_bytes = 3 * GB / 2;
        two = plan_case_plan(&made);
        g_assert_cmpuint(two->best.n_stages, ==, 2);
        g_assert_cmpfloat(two->best.lower_nsec, ==, two->best.nsec);
        g_assert_cmpint(two->verdicts[1].reason, ==, ALD_PLAN_UNEVEN);
        assert_verdict(&made, two, 1,
                "vllm needs as many GPUs of each node as of the others; with this one, they differ.");
        made.request.required = all;
        plan_case_assert_refused(&made, ALD_PLAN_NODES_UNEVEN, NULL);
}

static void test_even_split(void)
{
        AldPlanPin pins[] = { { (char *) "n0/gpu", 2 }, { (char *) "n0/gpu1", 2 }, { (char *) "n1/gpu", 2 } };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        init_uneven(&made, "vllm", 20 * GB);
        made.request.pins = pins;
        made.request.n_pins = 3;
        assert_sentence(&made,
                "The split has more GPUs of one node than of another one; vllm needs as many of "
                "each.");
        made.request.engine = ald_plan_engine_find("torch");
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 3);
}

/* More devices than are placed exactly, but of each node alike. A node of two would take a third one's place.
 */
static void test_even_of_many(void)
{
        uint32_t counts[8] = { 0 };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", 8);
        add_gpus(&made, 22);
        join_all(&made);
        made.workload.layers = 40;
        for (uint32_t i = 0; i < made.cluster.n_devices; i++) {
                made.devices[i].free_bytes = 9 * GB / 2;
                made.devices[i].bytes_per_second *= 1 + made.devices[i].node / 10.0;
        }
        plan = plan_case_plan(&made);
        for (uint32_t i = 0; i < plan->best.n_stages; i++)
                counts[made.devices[plan->best.stages[i].device].node]++;
        for (uint32_t i = 0; i < 8; i++)
                g_assert_true(counts[i] == 0 ||
                              counts[i] == counts[made.devices[plan->best.stages[0].device].node]);
        g_assert_cmpuint(plan->best.n_stages, >, 9);
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
}

static void set_addresses(PlanCase *made, const char *const *addresses)
{
        for (uint32_t i = 0; i < made->cluster.n_paths; i++) {
                made->paths[i].source_address = addresses[made->paths[i].source];
                made->paths[i].sink_address = addresses[made->paths[i].sink];
        }
}

/* Three nodes, of which two have room for the model, and the third is the fastest. */
static void init_three(PlanCase *made, const char *engine)
{
        plan_case_init(made, engine, 3);
        join_all(made);
        for (uint32_t i = 0; i < 3; i++) {
                made->devices[i].free_bytes = 9 * GB / 2;
                made->devices[i].bytes_per_second *= i + 1;
        }
}

static bool uses(const AldPlan *plan, uint32_t device)
{
        for (uint32_t i = 0; i < plan->best.n_stages; i++)
                if (plan->best.stages[i].device == device)
                        return true;
        return false;
}

/* The address counts that a path leads to. */
static void test_ipv4_only(void)
{
        static const char *const ipv4[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" },
                                 *const mixed[] = { "192.0.2.1", "192.0.2.2", "2001:db8::3" },
                                 *const ipv6[] = { "2001:db8::1", "2001:db8::2", "2001:db8::3" },
                                 *const must[] = { "n2", "n0", NULL };
        static const struct {
                const char *engine, *verdict, *refusal;
        } cases[] = {
                { "llama.cpp",
                        "No path between it and the plan can be used: llama.cpp takes IPv4 addresses only.",
                        "No paths that can be used join as many devices as it takes: llama.cpp takes IPv4 "
                        "addresses only." },
                { "distributed-llama",
                        "No path between it and the plan can be used: distributed-llama takes IPv4 addresses "
                        "only.",
                        "No paths that can be used join as many devices as it takes: distributed-llama takes "
                        "IPv4 addresses only." },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldPlan) any = NULL, without = NULL;
                PlanCase made;

                init_three(&made, cases[i].engine);
                set_addresses(&made, ipv4);
                any = plan_case_plan(&made);
                g_assert_true(uses(any, 2));
                set_addresses(&made, mixed);
                without = plan_case_plan(&made);
                g_assert_true(uses(without, 0) && uses(without, 1) && !uses(without, 2));
                assert_verdict(&made, without, 2, cases[i].verdict);
                made.request.required = must;
                assert_sentence(&made, cases[i].refusal);
                made.request.required = NULL;
                set_addresses(&made, ipv6);
                assert_sentence(&made, cases[i].refusal);
        }
}

/* NCCL gets the names of ports, and ranks meet at an address or by a host name. */
static void test_names(void)
{
        static const char *const link_local[] = { "fe80::1%eth0", "fe80::2%eth0", "fe80::3%eth0" },
                                 *const ipv6[] = { "2001:db8::1", "2001:db8::2", "2001:db8::3" };
        AldEdgeRow edge = ALD_EDGE_ROW_INIT;
        g_autoptr(AldPlan) plan = NULL, named = NULL;
        PlanCase made;

        init_three(&made, "vllm");
        set_addresses(&made, ipv6);
        for (uint32_t i = 0; i < made.cluster.n_paths; i++)
                if (made.paths[i].source == 2 || made.paths[i].sink == 2)
                        made.paths[i].edge = &edge;
        edge.source_port = edge.sink_port = "enp1s0,lo";
        plan = plan_case_plan(&made);
        g_assert_false(uses(plan, 2));
        assert_verdict(&made, plan, 2,
                "No path between it and the plan can be used: commands for vllm cannot have the name of a "
                "port of n2.");
        edge.source_port = edge.sink_port = "enp1s0";
        named = plan_case_plan(&made);
        g_assert_true(uses(named, 2));
        set_addresses(&made, link_local);
        assert_sentence(&made,
                "No paths that can be used join as many devices as it takes: neither a host name nor an "
                "address of n0 is known that commands for vllm can have.");
        for (uint32_t i = 0; i < 3; i++)
                made.nodes[i].host_name = made.ids[i];
        ald_plan_free(named);
        named = plan_case_plan(&made);
        g_assert_true(uses(named, 2));
}

/* The ports of adapters are numbered. */
static void test_names_of_adapters(void)
{
        static const struct {
                const char *port;
                bool is_named;
        } cases[] = { { "mlx5_0.1", true }, { "mlx5_0", false }, { "mlx5_0.", false }, { "mlx 5.1", false },
                { NULL, true } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldEdgeRow edge = ALD_EDGE_ROW_INIT;
                AldPlanRefusal refusal = { 0 };
                g_autoptr(AldPlan) plan = NULL;
                PlanCase made;

                init_three(&made, "torch");
                edge.source_port = "mlx5_1.2";
                edge.sink_port = cases[i].port;
                for (uint32_t j = 0; j < 3; j++)
                        made.nodes[j].host_name = made.ids[j];
                for (uint32_t j = 0; j < made.cluster.n_paths; j++) {
                        made.paths[j].edge = &edge;
                        made.paths[j].is_rdma = true;
                }
                plan = plan_case_try(&made, &refusal);
                g_assert_true((plan != NULL) == cases[i].is_named);
                g_free(refusal.verdicts);
        }
}

/* A host file has host names, or else IPv4 addresses. */
static void test_names_of_hosts(void)
{
        static const char *const ipv4[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" }, *const ipv6[] = {
                "2001:db8::1", "2001:db8::2", "2001:db8::3"
        };
        g_autoptr(AldPlan) by_address = NULL, by_name = NULL;
        PlanCase made;

        init_three(&made, "mpi");
        made.workload.message_bytes = 1000;
        made.nodes[0].host_name = "Anna's laptop";
        set_addresses(&made, ipv4);
        by_address = plan_case_plan(&made);
        set_addresses(&made, ipv6);
        plan_case_assert_refused(&made, ALD_PLAN_NOT_NAMED, NULL);
        for (uint32_t i = 0; i < 3; i++)
                made.nodes[i].host_name = made.ids[i];
        by_name = plan_case_plan(&made);
        g_assert_cmpuint(by_name->best.n_stages, ==, 3);
}

static void assert_note(const PlanCase *made, const AldPlan *plan, const char *expected)
{
        AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;
        g_autoptr(AldPlanReport)
                report = ald_plan_describe(&made->cluster, &made->request, &options, 1, plan, NULL);

        g_assert_cmpstr(report->plan.notes ? report->plan.notes[0] : NULL, ==, expected);
}

/* In a refusal, each node whose name is an obstacle is listed with that reason. */
static void assert_left_out(const PlanCase *made, const char *node, const char *expected)
{
        AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;
        g_autoptr(AldPlanReport) report = NULL;
        AldPlanRefusal refusal = { 0 };
        const char *found = NULL;

        g_assert_null(plan_case_try(made, &refusal));
        report = ald_plan_describe(&made->cluster, &made->request, &options, 1, NULL, &refusal);
        for (guint i = 0; i < report->left_out->len; i++) {
                const AldPlanLeftOutRow *row = &g_array_index(report->left_out, AldPlanLeftOutRow, i);

                if (g_str_equal(row->node, node))
                        found = row->text;
        }
        g_assert_cmpstr(found, ==, expected);
        g_free(refusal.verdicts);
}

/* In names of hosts, case does not matter: mpirun would start two ranks on one of them. */
static void test_shared_host_names(void)
{
        static const char *const ipv4[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" },
                                 *const mixed[] = { "192.0.2.1", "192.0.2.2", "2001:db8::3" },
                                 *const ipv6[] = { "2001:db8::1", "2001:db8::2", "2001:db8::3" },
                                 *const without[] = { "n1", NULL };
        g_autoptr(AldPlan) by_address = NULL, one_by_name = NULL, alone = NULL;
        PlanCase made;

        init_three(&made, "mpi");
        made.workload.message_bytes = 1000;
        made.nodes[0].host_name = "localhost";
        made.nodes[1].host_name = "LOCALHOST";
        made.nodes[2].host_name = "n2";
        set_addresses(&made, ipv4);
        by_address = plan_case_plan(&made);
        g_assert_cmpuint(by_address->best.n_stages, ==, 3);
        set_addresses(&made, mixed);
        one_by_name = plan_case_plan(&made);
        g_assert_cmpuint(one_by_name->best.n_stages, ==, 3);
        set_addresses(&made, ipv6);
        plan_case_assert_refused(&made, ALD_PLAN_NOT_NAMED, NULL);
        assert_sentence(&made,
                "No paths that can be used join as many devices as it takes: n0 has the same host name, "
                "localhost, as another node, and no IPv4 address of it is known.");
        assert_left_out(&made, "n1",
                "A path to it cannot be used: n1 has the same host name, LOCALHOST, as another node, and no "
                "IPv4 address of it is known.");
        assert_left_out(&made, "n2", NULL);
        /* Without a path, measuring one would help: it would have an address. */
        made.cluster.n_paths = 0;
        plan_case_assert_refused(&made, ALD_PLAN_NOT_JOINED, NULL);
        /* Assumed paths have none. */
        made.request.assumed_rtt_nsec = 1e6;
        made.request.assumed_bits_per_second = 1e9;
        plan_case_assert_refused(&made, ALD_PLAN_NOT_NAMED, NULL);
        assert_sentence(&made,
                "No paths that can be used join as many devices as it takes: n0 has the same host name, "
                "localhost, as another node, and no IPv4 address of it is known.");
        assert_left_out(&made, "n2", NULL);
        made.request.without = without;
        alone = plan_case_plan(&made);
        g_assert_cmpuint(alone->best.n_stages, ==, 2);
}

/* What was measured leads somewhere. */
static void test_unknown_address(void)
{
        const AldEdgeRow edge = ALD_EDGE_ROW_INIT;
        static const char *const addresses[] = { "192.0.2.1", "192.0.2.2", NULL }, *const must[] = { "n2",
                "n0", NULL };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        init_three(&made, "llama.cpp");
        set_addresses(&made, addresses);
        for (uint32_t i = 0; i < made.cluster.n_paths; i++)
                made.paths[i].edge = &edge;
        made.request.client = "n0";
        plan = plan_case_plan(&made);
        g_assert_false(uses(plan, 2));
        assert_verdict(&made, plan, 2,
                "No path between it and the plan can be used: commands for llama.cpp need the address of n2, "
                "which is unknown.");
        made.request.required = must;
        assert_sentence(&made,
                "No paths that can be used join as many devices as it takes: commands for llama.cpp need the "
                "address of n2, which is unknown.");
        assert_left_out(&made, "n2",
                "A path to it cannot be used: commands for llama.cpp need the address of n2, which is "
                "unknown.");
        assert_left_out(&made, "n0", NULL);
}

/* A plan of sizes alone, or over paths that were assumed, is of use, and says what its commands lack. */
static void test_not_exportable_yet(void)
{
        static const char *const addresses[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" };
        static const char *const must[] = { "n0", "n1", NULL }, *const without[] = { "n2", NULL };
        g_autoptr(AldPlan) measured = NULL, assumed = NULL;
        PlanCase made;

        init_three(&made, "llama.cpp");
        set_addresses(&made, addresses);
        made.request.required = must;
        made.request.without = without;
        made.request.client = "n0";
        measured = plan_case_plan(&made);
        made.workload.context = 0;
        assert_note(&made, measured,
                "Commands for llama.cpp cannot be exported yet: they need Context, which is not stated.");
        made.workload.context = 4096;
        assert_note(&made, measured, NULL);
        made.cluster.n_paths = 0;
        made.request.assumed_rtt_nsec = 1e6;
        made.request.assumed_bits_per_second = 1e9;
        assumed = plan_case_plan(&made);
        assert_note(&made, assumed,
                "Commands for llama.cpp cannot be exported yet: they need addresses, which are unknown until "
                "a path was measured, of n1.");
        made.workload.context = 0;
        assert_note(&made, assumed,
                "Commands for llama.cpp cannot be exported yet: they need Context, which is not stated; and "
                "they need addresses, which are unknown until a path was measured, of n1.");
}

/* The second GPU of a node has the address of the first one; ranks need the address of the first node alone.
 */
static void test_exportable(void)
{
        static const char *const addresses[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" };
        static const char *const must[] = { "n1/cpu", "n1/gpu1", NULL }, *const client[] = { "n2", NULL };
        g_autoptr(AldPlan) star = NULL, ring = NULL;
        PlanCase made;

        init_three(&made, "llama.cpp");
        add_gpus(&made, 2);
        made.devices[4].is_processor = made.devices[4].uses_host_memory = false;
        set_addresses(&made, addresses);
        made.request.required = must;
        made.request.without = client;
        made.request.client = "n0";
        star = plan_case_plan(&made);
        g_assert_true(uses(star, 1) && uses(star, 4));
        assert_note(&made, star, NULL);

        init_three(&made, "torch");
        made.cluster.n_paths = 0;
        made.request.assumed_rtt_nsec = 1e6;
        made.request.assumed_bits_per_second = 1e9;
        for (uint32_t i = 0; i < 3; i++)
                made.nodes[i].host_name = NULL;
        ring = plan_case_plan(&made);
        g_assert_cmpuint(ring->best.n_stages, ==, 2);
        assert_note(&made, ring,
                "Commands for torch cannot be exported yet: they need addresses, which are unknown until a "
                "path "
                "was measured, of n1.");
        made.nodes[1].host_name = "alpha";
        assert_note(&made, ring, NULL);
}

static void test_part_of_gpu(void)
{
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        init_three(&made, "vllm");
        made.devices[2].id = "0000:01:00.0/1-0";
        plan = plan_case_plan(&made);
        g_assert_false(uses(plan, 2));
        assert_verdict(&made, plan, 2, "It is a part of a GPU; vllm is given the numbers of whole ones.");
}

static void test_context(void)
{
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        init_three(&made, "llama.cpp");
        made.workload.context = 1000000;
        made.workload.parallel = 2147;
        plan = plan_case_plan(&made);
        made.workload.parallel = 2148;
        assert_sentence(&made,
                "llama.cpp takes 2147483647 tokens of context of all requests together, and 2148 "
                "requests of 1000000 are more.");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-limits/even", test_even);
        g_test_add_func("/plan-limits/even-split", test_even_split);
        g_test_add_func("/plan-limits/even-of-many", test_even_of_many);
        g_test_add_func("/plan-limits/ipv4-only", test_ipv4_only);
        g_test_add_func("/plan-limits/names", test_names);
        g_test_add_func("/plan-limits/names-of-adapters", test_names_of_adapters);
        g_test_add_func("/plan-limits/names-of-hosts", test_names_of_hosts);
        g_test_add_func("/plan-limits/shared-host-names", test_shared_host_names);
        g_test_add_func("/plan-limits/unknown-address", test_unknown_address);
        g_test_add_func("/plan-limits/not-exportable-yet", test_not_exportable_yet);
        g_test_add_func("/plan-limits/exportable", test_exportable);
        g_test_add_func("/plan-limits/part-of-gpu", test_part_of_gpu);
        g_test_add_func("/plan-limits/context", test_context);
        return g_test_run();
}
