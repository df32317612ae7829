/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "services/placement/snapshot.h"
#include "tests/unit/model-maker.h"

#define GIB (UINT64_C(1) << 30)
#define MEASURED "'MemoryBandwidthBytesPerSecond':900000000000,'TflopsFp16':2.0"

static AldModel *new_model(void)
{
        AldModel *model = ald_model_new();

        ald_model_add_topology(model, false);
        return model;
}

static void add_node(AldModel *model, unsigned number, const char *presence, const char *records)
{
        g_autofree char *id = model_id(number);
        AldGraphNodeRow row = ALD_GRAPH_NODE_ROW_INIT;

        model_put_node(model, number, records);
        row.node = id;
        row.presence = presence;
        g_ptr_array_add(ald_model_topology(model)->nodes, ald_struct_dup(&ald_graph_node_row_struct, &row));
}

/* Live and measured, without ports and addresses. */
static AldEdgeRow edge_between(const char *source, const char *sink)
{
        AldEdgeRow edge = ALD_EDGE_ROW_INIT;

        edge.kind = "socket";
        edge.presence = "live";
        edge.source = source;
        edge.sink = sink;
        edge.bits_per_second = 1000;
        edge.rtt_p50_nsec = 10;
        return edge;
}

static void add_edge(AldModel *model, const AldEdgeRow *edge)
{
        g_ptr_array_add(ald_model_topology(model)->edges, ald_struct_dup(&ald_edge_row_struct, edge));
}

static AldModel *two_nodes(const char *first, const char *second)
{
        AldModel *model = new_model();

        add_node(model, 1, "online", first);
        add_node(model, 2, "online", second);
        return model;
}

#define TWO_NETWORKS                                                                                  \
        "{'Node1.Network':{'Interfaces':[{'Id':'eth0','Addresses':['bad','192.0.2.1','192.0.2.5/33'," \
        "'198.51.100.130/25','192.0.2.1/24','2001:db8::1/64']}]}}"
#define NO_NETWORK "{'Node1.Identity':{'FriendlyName':'b'}}"

/* The address of the prober is that of its interface in the network of the other end. */
static void test_addresses(void)
{
        static const struct {
                const char *port, *sink, *source;
        } cases[] = {
                { "eth0", "192.0.2.2", "192.0.2.1" },
                { "eth0", "198.51.100.200", "198.51.100.130" },
                { "eth0", "198.51.100.2", NULL }, /* in the other half */
                { "eth0", "2001:db8::2", "2001:db8::1" },
                { "eth0", "2001:db8:0:1::2", NULL },
                { "eth0", "nonsense", NULL },
                { "eth1", "192.0.2.2", NULL },
                { NULL, "192.0.2.2", NULL }, /* the route is unknown */
                { "eth0", NULL, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = two_nodes(TWO_NETWORKS, NO_NETWORK);
                g_autofree char *a = model_id(1), *b = model_id(2);
                g_autoptr(AldPlanSnapshot) snapshot = NULL;
                AldEdgeRow there = edge_between(a, b), back = edge_between(b, a);

                there.source_port = back.sink_port = cases[i].port;
                there.sink_address = back.source_address = cases[i].sink;
                add_edge(model, &there);
                add_edge(model, &back);
                snapshot = ald_plan_snapshot_new(model);
                g_assert_cmpuint(snapshot->cluster.n_paths, ==, 2);
                for (uint32_t j = 0; j < 2; j++) {
                        const AldPlanPath *path = &snapshot->cluster.paths[j];

                        g_assert_cmpstr(
                                j == 0 ? path->source_address : path->sink_address, ==, cases[i].source);
                        g_assert_cmpstr(
                                j == 0 ? path->sink_address : path->source_address, ==, cases[i].sink);
                        g_assert_cmpuint(path->reverse, ==, 1 - j);
                }
        }
}

/* Of paths that nothing tells apart, each has one reverse; others have it by ports, addresses and kind. */
static void test_pairs(void)
{
        g_autoptr(AldModel) model = two_nodes(NO_NETWORK, NO_NETWORK);
        g_autofree char *a = model_id(1), *b = model_id(2);
        g_autoptr(AldPlanSnapshot) snapshot = NULL;
        AldEdgeRow there = edge_between(a, b), back = edge_between(b, a);
        const AldPlanPath *paths;

        add_edge(model, &there); /* 0 to 2, without a name */
        add_edge(model, &there);
        add_edge(model, &there);
        add_edge(model, &back); /* 3 and 4 */
        add_edge(model, &back);
        there.source_port = back.sink_port = "eth1";
        add_edge(model, &there); /* 5 */
        there.kind = back.kind = "rdma";
        add_edge(model, &back);  /* 6 */
        add_edge(model, &there); /* 7 */
        snapshot = ald_plan_snapshot_new(model);
        paths = snapshot->cluster.paths;
        g_assert_cmpuint(snapshot->cluster.n_paths, ==, 8);
        g_assert_cmpuint(paths[3].reverse, ==, 0);
        g_assert_cmpuint(paths[4].reverse, ==, 1);
        g_assert_cmpuint(paths[2].reverse, ==, ALD_PLAN_NONE);
        g_assert_cmpuint(paths[5].reverse, ==, ALD_PLAN_NONE);
        g_assert_cmpuint(paths[6].reverse, ==, 7);
        g_assert_true(paths[6].is_rdma && !paths[5].is_rdma);
        for (uint32_t i = 0; i < 8; i++)
                if (paths[i].reverse != ALD_PLAN_NONE)
                        g_assert_cmpuint(paths[paths[i].reverse].reverse, ==, i);
}

/* Only what is live, measured, and between two known nodes. */
static void test_useless_edges(void)
{
        g_autoptr(AldModel) model = two_nodes(NO_NETWORK, NO_NETWORK);
        g_autofree char *a = model_id(1), *b = model_id(2), *c = model_id(3);
        g_autoptr(AldPlanSnapshot) snapshot = NULL;
        AldEdgeRow edge = edge_between(a, b);

#define ADD(field, value)                  \
        do {                               \
                edge = edge_between(a, b); \
                edge.field = (value);      \
                add_edge(model, &edge);    \
        } while (0)
        ADD(kind, "thunderbolt");
        ADD(kind, NULL);
        ADD(presence, "stale");
        ADD(presence, NULL);
        ADD(bits_per_second, 0);
        ADD(bits_per_second, ALD_ABSENT_UINT64);
        ADD(rtt_p50_nsec, ALD_ABSENT_UINT64);
        ADD(sink, c);
        ADD(source, c);
        ADD(sink, a);
        snapshot = ald_plan_snapshot_new(model);
        g_assert_cmpuint(snapshot->cluster.n_paths, ==, 0);
        g_assert_cmpuint(snapshot->cluster.n_nodes, ==, 2);
        ADD(rtt_p50_nsec, 0);
#undef ADD
        ald_plan_snapshot_free(snapshot);
        snapshot = ald_plan_snapshot_new(model);
        g_assert_cmpuint(snapshot->cluster.n_paths, ==, 1);
}

static const AldPlanDevice *device_of(const AldPlanSnapshot *snapshot, const char *id)
{
        for (uint32_t i = 0; i < snapshot->cluster.n_devices; i++)
                if (g_str_equal(snapshot->cluster.devices[i].id, id))
                        return &snapshot->cluster.devices[i];
        return NULL;
}

/* A split card is its instances; memory and figures are unknown unless they make sense. */
static void test_devices(void)
{
        static const char *const limited[] = { "unknown", "wrong", "unlisted" };
        g_autoptr(AldModel) model = new_model();
        g_autoptr(AldPlanSnapshot) snapshot = NULL;

        add_node(model, 1, "online",
                "{'Node1.Memory':{'TotalBytes':34359738368,'AvailableBytes':17179869184,'UpdatedUSec':5},"
                "'Node1.Backends':{'Devices':["
                "{'Id':'card','Class':'gpu','MemoryTotalBytes':8589934592},"
                "{'Id':'card/1','Class':'gpu','Parent':'card','MemoryTotalBytes':4294967296},"
                "{'Id':'cpu','Class':'cpu','Unified':true},"
                "{'Id':'full','Class':'gpu','MemoryTotalBytes':1073741824},"
                "{'Id':'arc','Class':'gpu','MemoryTotalBytes':8589934592},"
                "{'Id':'carved','Class':'gpu','Unified':true,'MemoryTotalBytes':8589934592,"
                "'SharedBytes':4294967296},"
                "{'Id':'mute','Class':'gpu','MemoryTotalBytes':8589934592},"
                "{'Id':'sizeless','Class':'gpu'},"
                "{'Id':'shared','Class':'gpu','Unified':true,'MemoryTotalBytes':2147483648,"
                "'SharedBytes':4294967296},"
                "{'Id':'known','Class':'gpu','Unified':true,'SharedBytes':4294967296},"
                "{'Id':'unknown','Class':'gpu','Unified':true,'SharedBytes':4294967296},"
                "{'Id':'wrong','Class':'gpu','Unified':true,'SharedBytes':4294967296},"
                "{'Id':'unlisted','Class':'gpu','Unified':true,'SharedBytes':4294967296}]},"
                "'Node1.System':{'UpdatedUSec':4,'Devices':["
                "{'Id':'card/1','MemoryUsedBytes':1073741824},"
                "{'Id':'full','MemoryUsedBytes':2147483648},"
                "{'Id':'arc','Usage':3},{'Id':'carved'},{'Id':'sizeless'},"
                "{'Id':'shared','MemoryUsedBytes':1073741824,'SharedUsedBytes':1073741824},"
                "{'Id':'known','SharedUsedBytes':1073741824},"
                "{'Id':'unknown'},"
                "{'Id':'wrong','SharedUsedBytes':5368709120}]},"
                "'Node1.Compute':{'Devices':["
                "{'Id':'card/1'," MEASURED "},"
                "{'Id':'cpu','MemoryBandwidthBytesPerSecond':20000000000,'GemmTflops':0.5},"
                "{'Id':'full'," MEASURED ",'Flags':['suspect']}]}}");
        snapshot = ald_plan_snapshot_new(model);
        g_assert_cmpuint(snapshot->cluster.n_devices, ==, 12);
        g_assert_null(device_of(snapshot, "card"));
        g_assert_cmpuint(device_of(snapshot, "card/1")->free_bytes, ==, 3 * GIB);
        g_assert_cmpuint(device_of(snapshot, "card/1")->total_bytes, ==, 4 * GIB);
        g_assert_cmpuint(device_of(snapshot, "card/1")->free_usec, ==, 4);
        g_assert_cmpfloat(device_of(snapshot, "card/1")->bytes_per_second, ==, 9e11);
        g_assert_cmpfloat(device_of(snapshot, "card/1")->flops, ==, 2e12);
        g_assert_true(device_of(snapshot, "cpu")->is_processor);
        g_assert_true(device_of(snapshot, "cpu")->uses_host_memory);
        g_assert_cmpuint(device_of(snapshot, "cpu")->free_bytes, ==, 16 * GIB);
        g_assert_cmpuint(device_of(snapshot, "cpu")->free_usec, ==, 5);
        g_assert_cmpfloat(device_of(snapshot, "cpu")->flops, ==, 5e11);
        /* Its driver does not report how much is used, which says nothing of a carve-out. */
        g_assert_cmpuint(device_of(snapshot, "arc")->free_bytes, ==, 8 * GIB);
        g_assert_true(device_of(snapshot, "arc")->is_free_assumed);
        g_assert_cmpuint(device_of(snapshot, "carved")->free_bytes, ==, 4 * GIB);
        g_assert_false(device_of(snapshot, "carved")->is_free_assumed);
        g_assert_false(device_of(snapshot, "card/1")->is_free_assumed);
        /* Nothing is known of it. */
        g_assert_cmpuint(device_of(snapshot, "mute")->free_bytes, ==, ALD_PLAN_ABSENT);
        g_assert_cmpuint(device_of(snapshot, "sizeless")->free_bytes, ==, ALD_PLAN_ABSENT);
        /* More is used than there is. */
        g_assert_cmpuint(device_of(snapshot, "full")->free_bytes, ==, ALD_PLAN_ABSENT);
        g_assert_true(isnan(device_of(snapshot, "full")->flops));
        /* What its driver allows, and what is free of its carve-out. */
        g_assert_cmpuint(device_of(snapshot, "shared")->free_bytes, ==, 4 * GIB);
        g_assert_cmpuint(device_of(snapshot, "shared")->total_bytes, ==, ALD_PLAN_ABSENT);
        g_assert_true(isnan(device_of(snapshot, "shared")->bytes_per_second));
        /* What it allows counts even if it is not known, or not possible, how much of it is used. */
        g_assert_cmpuint(device_of(snapshot, "known")->free_bytes, ==, 3 * GIB);
        g_assert_cmpuint(device_of(snapshot, "known")->free_usec, ==, 4);
        for (size_t i = 0; i < G_N_ELEMENTS(limited); i++) {
                g_assert_cmpuint(device_of(snapshot, limited[i])->free_bytes, ==, 4 * GIB);
                g_assert_cmpuint(device_of(snapshot, limited[i])->free_usec, ==, 5);
        }
}

/* The state service says which figures are not believed; the others count. */
static void test_doubts(void)
{
        g_autoptr(AldModel) model = new_model();
        g_autoptr(AldPlanSnapshot) snapshot = NULL;
        const AldPlanDevice *device;

        add_node(model, 1, "online",
                "{'Node1.Backends':{'Devices':[{'Id':'liar','Class':'gpu'},{'Id':'odd','Class':'gpu'},"
                "{'Id':'wide','Class':'gpu'}]},"
                "'Node1.Compute':{'Devices':[{'Id':'liar'," MEASURED "},{'Id':'odd'," MEASURED "},"
                "{'Id':'wide'," MEASURED "}]},"
                "'Node1.Doubts':{'Figures':["
                "{'Id':'liar GemmTflops','Device':'liar','Field':'GemmTflops','Reason':'above-peak',"
                "'LeftOut':true,'Tflops':2.0,'LimitTflops':0.5},"
                "{'Id':'odd GemmTflops','Device':'odd','Field':'GemmTflops','Reason':'above-equal-devices',"
                "'LeftOut':false,'Tflops':2.0,'LimitTflops':0.5},"
                "{'Id':'wide MemoryBandwidthBytesPerSecond','Device':'wide',"
                "'Field':'MemoryBandwidthBytesPerSecond','Reason':'above-theoretical','LeftOut':true}]}}");
        snapshot = ald_plan_snapshot_new(model);
        device = device_of(snapshot, "liar");
        g_assert_true(isnan(device->flops));
        g_assert_cmpfloat(device->bytes_per_second, ==, 9e11);
        g_assert_cmpstr(device->doubt->reason, ==, "above-peak");
        device = device_of(snapshot, "odd");
        g_assert_null(device->doubt);
        g_assert_cmpfloat(device->flops, ==, 2e12);
        device = device_of(snapshot, "wide");
        g_assert_true(isnan(device->bytes_per_second));
        g_assert_cmpfloat(device->flops, ==, 2e12);
        g_assert_cmpstr(device->doubt->reason, ==, "above-theoretical");
}

#define MINUTE UINT64_C(60000000)
#define TTL (5 * MINUTE) /* of sockets, the least */

typedef struct EndsCase {
        uint64_t rate, other; /* by the source, by the sink */
        double interval, other_interval;
        uint64_t later; /* how long after the first the second was measured */
        uint64_t ttl, other_ttl;
        uint64_t taken, disputed;
} EndsCase;

/* Of the direction from the first node to the second one, to the address of the end that was probed. */
static void add_measured(
        AldModel *model, unsigned prober, const char *sink_port, uint64_t rate, uint64_t measured)
{
        g_autofree char *a = model_id(1), *b = model_id(2);
        AldEdgeRow edge = edge_between(a, b);

        edge.source_port = "eth0";
        edge.sink_port = sink_port;
        edge.prober = prober == 1 ? a : b;
        edge.bits_per_second = rate;
        edge.measured_usec = measured;
        edge.time_to_live_usec = TTL;
        if (prober == 1)
                edge.sink_address = "192.0.2.2";
        else
                edge.source_address = "192.0.2.1";
        add_edge(model, &edge);
}

/* Both ends measured the same direction between the same ports. */
static AldPlanSnapshot *measured_by_both(const EndsCase *c)
{
        g_autoptr(AldModel) model = two_nodes(NO_NETWORK, NO_NETWORK);
        AldEdgeRow *edge, *other;

        add_measured(model, 1, "eth1", c->rate, 1000);
        add_measured(model, 2, "eth1", c->other, 1000 + c->later);
        edge = ald_model_topology(model)->edges->pdata[0];
        other = ald_model_topology(model)->edges->pdata[1];
        edge->interval = c->interval;
        other->interval = c->other_interval;
        edge->time_to_live_usec = c->ttl;
        other->time_to_live_usec = c->other_ttl;
        return ald_plan_snapshot_new(model);
}

static void test_disputes(void)
{
        static const EndsCase cases[] = {
                { 94000, 9400, 1, 1, 0, TTL, TTL, 9400, 94000 },
                { 9400, 94000, 1, 1, TTL, TTL, TTL, 9400, 94000 },
                /* Within the intervals, or what measurements some minutes apart differ by. */
                { 10000, 9400, 5, 5, 0, TTL, TTL, 0, 0 },
                { 10000, 9800, 0, 0, 0, TTL, TTL, 0, 0 },
                { 10000, 9400, NAN, NAN, 0, TTL, TTL, 9400, 10000 },
                /* Something may have changed in between. */
                { 94000, 9400, 1, 1, TTL + 1, TTL, TTL, 0, 0 },
                /* Whoever states the higher rate cannot end the comparison, nor state less than is planned.
                 */
                { 94000, 9400, 1, 1, 6 * TTL, 1, 6 * TTL, 9400, 94000 },
                { 94000, 9400, 1, 1, 6 * TTL + 1, 1, 6 * TTL, 0, 0 },
                { 9400, 94000, 1, 1, TTL, 1, 1, 9400, 94000 },
                { 9400, 94000, 1, 1, TTL + 1, 1, 6 * TTL, 0, 0 },
                { 94000, 9400, 1, 1, TTL, 1, ALD_ABSENT_UINT64, 9400, 94000 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldPlanSnapshot) snapshot = measured_by_both(&cases[i]);
                const AldPlanPath *paths = snapshot->cluster.paths;

                g_assert_cmpuint(snapshot->cluster.n_paths, ==, 2);
                for (uint32_t j = 0; j < 2; j++) {
                        uint64_t own = j == 0 ? cases[i].rate : cases[i].other;

                        g_assert_cmpfloat(
                                paths[j].bits_per_second, ==, cases[i].taken ? cases[i].taken : own);
                        g_assert_cmpfloat(paths[j].disputed_bits_per_second, ==, cases[i].disputed);
                }
        }
}

/* A path whose ports the other end has not measured is compared with the best that this end has, if that was
 * within the time. */
static void test_unmatched_paths(void)
{
        static const struct {
                const char *port; /* that the first node states; NULL: none */
                unsigned prober;  /* of the other path */
                uint64_t measured;
                uint64_t taken;
        } cases[] = {
                { "eth1", 2, 1000, 4700 },    /* the exact counterpart */
                { "made-up", 2, 1000, 9400 }, /* the best */
                { NULL, 2, 1000, 9400 },
                { "made-up", 2, 1001 + TTL, 4700 },
                { "made-up", 1, 1000, 4700 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = two_nodes(NO_NETWORK, NO_NETWORK);
                g_autoptr(AldPlanSnapshot) snapshot = NULL;

                add_measured(model, 1, cases[i].port, 94000, 1000);
                add_measured(model, 2, "eth1", 4700, 1000);
                add_measured(model, cases[i].prober, "eth2", 9400, cases[i].measured);
                snapshot = ald_plan_snapshot_new(model);
                g_assert_cmpfloat(snapshot->cluster.paths[0].bits_per_second, ==, cases[i].taken);
                g_assert_cmpfloat(snapshot->cluster.paths[0].disputed_bits_per_second, ==, 94000);
                g_assert_cmpfloat(snapshot->cluster.paths[1].bits_per_second, ==, 4700);
                g_assert_cmpfloat(snapshot->cluster.paths[2].bits_per_second, ==,
                        cases[i].prober == 2 ? 9400 : cases[i].taken);
        }
}

/* Nothing to compare: one end measured everything, or the other end another kind of path. */
static void test_no_disputes(void)
{
        for (unsigned i = 0; i < 2; i++) {
                g_autoptr(AldModel) model = two_nodes(NO_NETWORK, NO_NETWORK);
                g_autoptr(AldPlanSnapshot) snapshot = NULL;
                AldEdgeRow *other;

                add_measured(model, 1, "eth1", 94000, 1000);
                add_measured(model, i == 0 ? 1 : 2, "eth1", 9400, 1000);
                other = ald_model_topology(model)->edges->pdata[1];
                if (i == 1)
                        other->kind = "rdma";
                snapshot = ald_plan_snapshot_new(model);
                g_assert_cmpuint(snapshot->cluster.n_paths, ==, 2);
                g_assert_cmpfloat(snapshot->cluster.paths[0].bits_per_second, ==, 94000);
                g_assert_cmpfloat(snapshot->cluster.paths[0].disputed_bits_per_second, ==, 0);
        }
}

/* None of many keeps its rate, whichever end comes first, and whichever has so many. */
static void test_many_disputes(void)
{
        for (unsigned liar = 1; liar <= 2; liar++)
                for (unsigned first = 0; first < 2; first++) {
                        g_autoptr(AldModel) model = two_nodes(NO_NETWORK, NO_NETWORK);
                        g_autoptr(AldPlanSnapshot) snapshot = NULL;

                        if (first == 0)
                                add_measured(model, 3 - liar, "eth1", 9400, 1000);
                        for (unsigned i = 0; i < 40; i++)
                                add_measured(model, liar, "eth1", 94000 + i, 1000);
                        if (first == 1)
                                add_measured(model, 3 - liar, "eth1", 9400, 1000);
                        snapshot = ald_plan_snapshot_new(model);
                        g_assert_cmpuint(snapshot->cluster.n_paths, ==, 41);
                        for (uint32_t i = 0; i < 41; i++)
                                g_assert_cmpfloat(snapshot->cluster.paths[i].bits_per_second, ==, 9400);
                }
}

/* As long as OpenCL was not asked, it is not known whether it shows a device. */
static void test_opencl(void)
{
        static const struct {
                const char *asked;
                bool lacks_opencl;
                const char *package;
        } cases[] = {
                { "", false, NULL },
                { "'OpenCl':'no-platform',", true, "nvidia-opencl-icd" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = new_model();
                g_autoptr(AldPlanSnapshot) snapshot = NULL;
                g_autofree char *records = g_strdup_printf(
                        "{'Node1.Backends':{%s'Devices':[{'Id':'card','Class':'gpu','Driver':'nvidia',"
                        "'Vendor':'NVIDIA'}]}}",
                        cases[i].asked);

                add_node(model, 1, "online", records);
                snapshot = ald_plan_snapshot_new(model);
                g_assert_true(device_of(snapshot, "card")->lacks_opencl == cases[i].lacks_opencl);
                g_assert_cmpstr(device_of(snapshot, "card")->opencl_package, ==, cases[i].package);
        }
}

/* CUDA shows the memory of the machine even within a container whose limit is less. */
static void test_totals_of_unified(void)
{
        g_autoptr(AldModel) model = new_model();
        g_autoptr(AldPlanSnapshot) snapshot = NULL;

        add_node(model, 1, "online",
                "{'Node1.Memory':{'TotalBytes':8589934592,'AvailableBytes':4294967296,'UpdatedUSec':5},"
                "'Node1.Backends':{'Devices':["
                "{'Id':'whole','Class':'gpu','Vendor':'NVIDIA','Unified':true},"
                "{'Id':'same','Class':'gpu','Vendor':'NVIDIA','Unified':true,'SharedBytes':8589934592},"
                "{'Id':'limited','Class':'gpu','Vendor':'NVIDIA','Unified':true,'SharedBytes':17179869184},"
                "{'Id':'other','Class':'gpu','Vendor':'AMD','Unified':true,'SharedBytes':17179869184}]}}");
        snapshot = ald_plan_snapshot_new(model);
        g_assert_cmpuint(device_of(snapshot, "whole")->total_bytes, ==, 8 * GIB);
        g_assert_cmpuint(device_of(snapshot, "same")->total_bytes, ==, 8 * GIB);
        g_assert_cmpuint(device_of(snapshot, "limited")->total_bytes, ==, 16 * GIB);
        g_assert_cmpuint(device_of(snapshot, "limited")->free_bytes, ==, 4 * GIB);
        g_assert_cmpuint(device_of(snapshot, "other")->total_bytes, ==, ALD_PLAN_ABSENT);
}

/* It refers to nothing of the model. */
static void test_nodes(void)
{
        AldModel *model = new_model();
        g_autoptr(AldPlanSnapshot) snapshot = NULL;

        add_node(model, 1, "online", "{'Node1.Identity':{'HostName':'a.example'}}");
        add_node(model, 2, "offline", NO_NETWORK);
        add_node(model, 3, NULL, NO_NETWORK);
        snapshot = ald_plan_snapshot_new(model);
        ald_model_free(model);
        g_assert_cmpuint(snapshot->cluster.n_nodes, ==, 3);
        g_assert_cmpstr(snapshot->cluster.nodes[0].host_name, ==, "a.example");
        g_assert_null(snapshot->cluster.nodes[0].unusable);
        g_assert_null(snapshot->cluster.nodes[1].host_name);
        g_assert_cmpstr(snapshot->cluster.nodes[1].unusable, ==, "offline");
        g_assert_cmpstr(snapshot->cluster.nodes[2].unusable, ==, "unknown");
}

/* The file system with most models counts, if it was measured while nothing else used its disks. */
static void test_storage(void)
{
        static const struct {
                const char *rows, *found;
        } cases[] = {
                { "", NULL },
                { "{'Id':'/a','ModelBytes':5,'ReadBytesPerSecond':7}", "/a" },
                { "{'Id':'/a','ReadBytesPerSecond':7}", NULL }, /* nobody looked for models */
                { "{'Id':'/a','ModelBytes':5}", NULL },
                { "{'Id':'/a','ModelBytes':0,'ReadBytesPerSecond':7}", NULL },
                { "{'Id':'/a','ModelBytes':5,'ReadBytesPerSecond':0}", NULL },
                { "{'Id':'/a','ModelBytes':5,'ReadBytesPerSecond':7,'Flags':['busy']}", NULL },
                { "{'Id':'/a','ModelBytes':5,'ReadBytesPerSecond':7,'Flags':['unstable']}", "/a" },
                { "{'Id':'/a','ModelBytes':5,'ReadBytesPerSecond':7},"
                  "{'Id':'/b','ModelBytes':6,'ReadBytesPerSecond':8}",
                        "/b" },
                { "{'Id':'/a','ModelBytes':5,'ReadBytesPerSecond':7},{'Id':'/b','ModelBytes':6}", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *records = g_strdup_printf(
                        "{'Node1.Storage':{'FileSystems':[%s]}}", cases[i].rows);
                g_autoptr(AldModel) model = new_model();
                g_autoptr(AldPlanSnapshot) snapshot = NULL;
                const AldStorageFileSystem *found;

                add_node(model, 1, "online", records);
                snapshot = ald_plan_snapshot_new(model);
                found = snapshot->cluster.nodes[0].storage;
                g_assert_cmpstr(found ? found->id : NULL, ==, cases[i].found);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-snapshot/addresses", test_addresses);
        g_test_add_func("/plan-snapshot/pairs", test_pairs);
        g_test_add_func("/plan-snapshot/useless-edges", test_useless_edges);
        g_test_add_func("/plan-snapshot/devices", test_devices);
        g_test_add_func("/plan-snapshot/opencl", test_opencl);
        g_test_add_func("/plan-snapshot/nodes", test_nodes);
        g_test_add_func("/plan-snapshot/storage", test_storage);
        g_test_add_func("/plan-snapshot/totals-of-unified", test_totals_of_unified);
        g_test_add_func("/plan-snapshot/doubts", test_doubts);
        g_test_add_func("/plan-snapshot/disputes", test_disputes);
        g_test_add_func("/plan-snapshot/unmatched-paths", test_unmatched_paths);
        g_test_add_func("/plan-snapshot/no-disputes", test_no_disputes);
        g_test_add_func("/plan-snapshot/many-disputes", test_many_disputes);
        return g_test_run();
}
