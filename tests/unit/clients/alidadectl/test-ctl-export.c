/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/export/leaf-switches.h"
#include "clients/alidadectl/export/nfd.h"
#include "clients/alidadectl/export/node-features.h"
#include "clients/alidadectl/export/slurm.h"
#include "tests/unit/model-maker.h"

#define NOW 1795680000e6
#define MEASURED (UINT64_C(1795670000) * 1000 * 1000)
#define OLD (UINT64_C(1795593599) * 1000 * 1000)

typedef struct Cluster {
        AldModel *model;
        AldTopology *topology;
} Cluster;

static void add_node(Cluster *cluster, unsigned number, const char *presence, const char *records)
{
        g_autofree char *id = model_id(number), *name = g_strdup_printf("n%u", number);
        const AldGraphNodeRow row = {
                .node = id, .presence = presence, .name = name, .since_usec = ALD_ABSENT_UINT64
        };

        g_ptr_array_add(cluster->topology->nodes, ald_struct_dup(&ald_graph_node_row_struct, &row));
        model_put_node(cluster->model, number, records);
}

/* In Gb/s; 0 is absent. */
static void add_pair(Cluster *cluster, unsigned node, unsigned peer, double there, double back,
        uint64_t measured_usec, const char *presence)
{
        static const char *const kinds[] = { "socket", NULL };
        g_autofree char *id = model_id(node), *peer_id = model_id(peer);
        AldNodePairRow row = ALD_NODE_PAIR_ROW_INIT;

        row.node = id;
        row.peer = peer_id;
        row.presence = presence;
        row.kinds = kinds;
        row.to_peer_bits_per_second = there > 0 ? (uint64_t) (there * 1e9) : ALD_ABSENT_UINT64;
        row.from_peer_bits_per_second = back > 0 ? (uint64_t) (back * 1e9) : ALD_ABSENT_UINT64;
        row.to_peer_measured_usec = row.from_peer_measured_usec = measured_usec;
        g_ptr_array_add(cluster->topology->pairs, ald_struct_dup(&ald_node_pair_row_struct, &row));
}

/* Two racks of two nodes; the fifth node has only been seen, the sixth is offline. */
static Cluster make_cluster(void)
{
        Cluster cluster = { .model = ald_model_new() };

        ald_model_add_topology(cluster.model, true);
        cluster.topology = ald_model_topology(cluster.model);
        cluster.topology->revision = 77;
        add_node(&cluster, 1, "online",
                "{'Node1.Identity':{'FriendlyName':'n1','HostName':'rack1-b.example.org'},"
                "'Node1.Backends':{'Devices':[{'Id':'0000:01:00.0','Class':'gpu','Vendor':'NVIDIA'},"
                "{'Id':'0000:02:00.0','Class':'gpu','Vendor':'Advanced Stuff, Inc.'},"
                "{'Id':'cpu','Class':'cpu','Vendor':'AMD'}]},"
                "'Node1.Compute':{'Devices':[{'Id':'0000:01:00.0','MemoryBandwidthBytesPerSecond':"
                "935000000000,"
                "'TflopsFp16':82.6,'MeasuredUSec':1795660000000000},{'Id':'cpu',"
                "'MemoryBandwidthBytesPerSecond':99000000000,'MeasuredUSec':1795660000000001},"
                "{'Id':'0000:02:00.0','MemoryBandwidthBytesPerSecond':9990000000000,"
                "'Flags':['busy'],'MeasuredUSec':1795660000000000}]},"
                "'Node1.Fabric':{'RdmaPorts':[{'Id':'mlx5_0.1','LinkLayer':'infiniband','State':'active'},"
                "{'Id':'mlx5_1.1','LinkLayer':'ethernet','State':'down'}],"
                "'ThunderboltPorts':[{'Id':'0-1'}]}}");
        add_node(&cluster, 2, "stale", "{'Node1.Identity':{'HostName':'rack2-a'}}");
        add_node(&cluster, 3, "online",
                "{'Node1.Identity':{'HostName':'rack1-a'},"
                "'Node1.Compute':{'Devices':[{'Id':'cpu',"
                "'MemoryBandwidthBytesPerSecond':99000000000,"
                "'MeasuredUSec':1795593599000000}]},"
                "'Node1.Fabric':{'RdmaPorts':[{'Id':'mlx5_1.1',"
                "'LinkLayer':'ethernet','State':'active'}]}}");
        add_node(&cluster, 4, "online",
                "{'Node1.Identity':{'HostName':'rack2-b'},"
                "'Node1.Fabric':{'RdmaPorts':[{'Id':'i40iw0.1','LinkLayer':'ethernet','Transport':'iwarp',"
                "'State':'active'},{'Id':'efa0.1','LinkLayer':'ethernet','Transport':'other',"
                "'State':'active'}]}}");
        add_node(&cluster, 5, "online", "{'Node1.Identity':{'HostName':'alone'}}");
        add_node(&cluster, 6, "offline", "{'Node1.Identity':{}}");
        add_pair(&cluster, 1, 2, 9.4, 9.4, MEASURED, "live");
        add_pair(&cluster, 1, 3, 94.1, 93.5, MEASURED, "live");
        add_pair(&cluster, 1, 4, 9.4, 0, MEASURED, "live");
        add_pair(&cluster, 1, 5, 0, 0, ALD_ABSENT_UINT64, "unmeasured");
        add_pair(&cluster, 1, 6, 400, 400, MEASURED, "offline");
        add_pair(&cluster, 2, 4, 23.5, 24, MEASURED - 1000 * 1000, "stale");
        add_pair(&cluster, 3, 4, 9.4, 9.4, MEASURED, "live");
        return cluster;
}

static char *write_slurm_named(const Cluster *cluster, bool full_names, bool force, int expected)
{
        g_auto(AldExportState) state = {};
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *reason = NULL;
        unsigned n_left_out = 0;
        int r;

        ald_export_state_init(&state, cluster->model, NOW, force);
        state.full_names = full_names;
        r = ald_slurm_write(out, &state, &n_left_out, &reason);
        g_assert_cmpint(r, ==, expected);
        g_assert_true((n_left_out > 0) == (strstr(out->str, "# Left out") != NULL));
        g_assert_true((r < 0) == (reason != NULL));
        return r < 0 ? g_steal_pointer(&reason) : g_strdup(out->str);
}

static char *write_slurm(const Cluster *cluster, bool force, int expected)
{
        return write_slurm_named(cluster, false, force, expected);
}

#define SLURM_HEAD(oldest)                                                                             \
        "# For topology.conf of Slurm, by Alidade " ALD_VERSION                                        \
        ", from the connection graph of revision 77.\n"                                                \
        "# Oldest figure: measured " oldest "\n"                                                       \
        "# Leaf switches join nodes whose measured rates are at least half of the best one of either " \
        "node.\n# In slurm.conf: TopologyPlugin=topology/tree\n"
static void test_slurm(void)
{
        Cluster cluster = make_cluster();
        g_autofree char *text = write_slurm(&cluster, false, 0);

        g_assert_cmpstr(text, ==,
                SLURM_HEAD(
                        "2026-11-26T05:13:19Z") "SwitchName=leaf0 Nodes=alone\n"
                                                "SwitchName=leaf1 Nodes=rack1-a,rack1-b\n"
                                                "SwitchName=leaf2 Nodes=rack2-a,rack2-b\n"
                                                "SwitchName=top Switches=leaf[0-2]\n"
                                                "#\n# For the lines of the nodes in slurm.conf:\n"
                                                "#   NodeName=rack1-a Features=rdma-roce,net-100g\n"
                                                "#   NodeName=rack1-b "
                                                "Features=gpu-advanced-stuff--inc,gpu-nvidia,rdma-infiniband,"
                                                "thunderbolt,net-100g,read-500g,fp16-50t\n"
                                                "#   NodeName=rack2-a Features=net-25g\n"
                                                "#   NodeName=rack2-b Features=rdma-iwarp,net-25g\n");
        ald_model_free(cluster.model);
}

/* What one more node does. */
static void check_refusal(const char *identity, int error, const char *reason, const char *forced)
{
        Cluster cluster = make_cluster();
        g_autofree char *text = NULL, *anyway = NULL;

        add_node(&cluster, 7, "online", identity);
        text = write_slurm(&cluster, false, error);
        g_assert_cmpstr(text, ==, reason);
        anyway = write_slurm(&cluster, true, forced ? 0 : error);
        g_assert_nonnull(strstr(anyway, forced ?: reason));
        ald_model_free(cluster.model);
}

/* The third node has the host name as well. */
static void check_contested(const char *host_name, const char *note)
{
        g_autofree char *own = model_id(3), *other = model_id(7);
        g_autofree char *identity = g_strdup_printf("{'Node1.Identity':{'HostName':'%s'}}", host_name);
        g_autofree char *reason = g_strdup_printf(
                "Two nodes, %s and %s, have the host name %s", own, other, note);
        g_autofree char *left_out = g_strdup_printf(
                "# Left out, since several nodes have the host name rack1-a: %s\n", own);

        check_refusal(identity, -ENXIO, reason, left_out);
        check_refusal(identity, -ENXIO, reason, other);
        /* All others are there. */
        check_refusal(identity, -ENXIO, reason,
                "SwitchName=leaf0 Nodes=alone\nSwitchName=leaf1 Nodes=rack1-b\n"
                "SwitchName=leaf2 Nodes=rack2-a,rack2-b\nSwitchName=top Switches=leaf[0-2]\n");
}

static void test_slurm_refuses_names(void)
{
        check_contested("rack1-a", "rack1-a");
        check_contested("RACK1-A", "rack1-a");
        check_contested("rack1-a.example.net", "rack1-a up to its first dot; --names=full tells them apart");
        check_refusal("{'Node1.Identity':{'FriendlyName':'n7'}}", -ENXIO,
                "The host name of n7 is unknown, or Slurm cannot take it",
                "# Left out, without a known host name: n7\n");
        check_refusal("{'Node1.Identity':{'HostName':'a,b'}}", -ENXIO,
                "The host name of n7 is unknown, or Slurm cannot take it",
                "# Left out, without a known host name: n7\n");
}

/* slurm.conf may have names of either form. */
static void test_slurm_full_names(void)
{
        Cluster cluster = { .model = ald_model_new() };
        g_autofree char *text = NULL, *same = NULL, *second = model_id(2), *fourth = model_id(4);
        g_autofree char *reason = g_strdup_printf(
                "Two nodes, %s and %s, have the host name gpu1.hall-b.example.org", second, fourth);

        ald_model_add_topology(cluster.model, true);
        cluster.topology = ald_model_topology(cluster.model);
        add_node(&cluster, 1, "online", "{'Node1.Identity':{'HostName':'gpu1.hall-a.example.org'}}");
        add_node(&cluster, 2, "online", "{'Node1.Identity':{'HostName':'gpu1.hall-b.example.org.'}}");
        add_node(&cluster, 3, "online", "{'Node1.Identity':{'HostName':'gpu2'}}");
        add_pair(&cluster, 1, 2, 9.4, 9.4, MEASURED, "live");
        text = write_slurm_named(&cluster, true, false, 0);
        g_assert_nonnull(
                strstr(text, "SwitchName=leaf0 Nodes=gpu1.hall-a.example.org,gpu1.hall-b.example.org\n"));
        g_assert_nonnull(strstr(text, "SwitchName=leaf1 Nodes=gpu2\n"));
        g_assert_nonnull(strstr(text, "#   NodeName=gpu1.hall-b.example.org Features=net-10g\n"));
        add_node(&cluster, 4, "online", "{'Node1.Identity':{'HostName':'GPU1.hall-b.Example.org'}}");
        same = write_slurm_named(&cluster, true, false, -ENXIO);
        g_assert_cmpstr(same, ==, reason);
        ald_model_free(cluster.model);
}

/* Where no other node is left, even --force has nothing to write. */
static void test_slurm_of_contested_names(void)
{
        Cluster cluster = { .model = ald_model_new() };
        g_autofree char *forced = NULL, *first = model_id(1), *second = model_id(2);
        g_autofree char *reason = g_strdup_printf("Two nodes, %s and %s, have the host name gpu1 up to its "
                                                  "first dot; --names=full tells them apart",
                first, second);

        ald_model_add_topology(cluster.model, true);
        cluster.topology = ald_model_topology(cluster.model);
        add_node(&cluster, 1, "online", "{'Node1.Identity':{'HostName':'gpu1.hall-a.example.org'}}");
        add_node(&cluster, 2, "online", "{'Node1.Identity':{'HostName':'gpu1.hall-b.example.org'}}");
        forced = write_slurm(&cluster, true, -ENODATA);
        g_assert_cmpstr(forced, ==, reason);
        ald_model_free(cluster.model);
}

static void test_slurm_refuses_old_rates(void)
{
        Cluster cluster = make_cluster();
        g_autofree char *text = NULL, *forced = NULL;

        add_pair(&cluster, 2, 5, 23.5, 23.5, OLD, "live");
        text = write_slurm(&cluster, false, -ESTALE);
        g_assert_cmpstr(text, ==, "The rate between alone and rack2-a is older than 24 h");
        forced = write_slurm(&cluster, true, 0);
        g_assert_nonnull(strstr(forced, "SwitchName=leaf0 Nodes=alone,rack2-a,rack2-b\n"));
        g_assert_nonnull(strstr(forced, "NodeName=rack1-a Features=rdma-roce,net-100g,read-50g\n"));
        ald_model_free(cluster.model);
}

/* By the clock of the node that measured. */
static void test_clocks(void)
{
        Cluster cluster = make_cluster();
        g_autofree char *one = model_id(1), *two = model_id(2), *text = NULL;
        AldEdgeRow edge = ALD_EDGE_ROW_INIT;
        AldNodePairRow *pair;

        add_pair(&cluster, 2, 5, 23.5, 23.5, OLD, "live");
        pair = g_ptr_array_index(cluster.topology->pairs, cluster.topology->pairs->len - 1);
        edge.id = pair->to_peer_edge = pair->from_peer_edge = 9;
        edge.source = edge.prober = two;
        edge.sink = one;
        edge.kind = "socket";
        g_ptr_array_add(cluster.topology->edges, ald_struct_dup(&ald_edge_row_struct, &edge));
        /* Its clock is an hour behind. */
        model_put(cluster.model, two, "Node1.Presence", "{'State':'online','ClockOffsetUSec':-3600000000}");
        text = write_slurm(&cluster, false, 0);
        g_assert_nonnull(strstr(text, "SwitchName=leaf0 Nodes=alone,rack2-a,rack2-b\n"));
        ald_model_free(cluster.model);
}

static void test_slurm_of_nobody(void)
{
        Cluster cluster = { .model = ald_model_new() };
        g_autofree char *text = NULL;

        ald_model_add_topology(cluster.model, true);
        text = write_slurm(&cluster, false, -ENODATA);
        g_assert_cmpstr(text, ==, "No node has a known host name");
        ald_model_free(cluster.model);
}

static char *write_nfd(const Cluster *cluster, unsigned index, bool force)
{
        g_auto(AldExportState) state = {};
        GString *out = g_string_new(NULL);

        ald_export_state_init(&state, cluster->model, NOW, force);
        ald_nfd_write(out, &state, index);
        return g_string_free(out, false);
}

#define NFD_HEAD                                                \
        "# For node-feature-discovery, by Alidade " ALD_VERSION \
        ", from the connection graph of revision 77.\n"
#define NFD "feature.node.kubernetes.io/alidade-"

static void test_nfd(void)
{
        Cluster cluster = make_cluster();
        g_autofree char *one = write_nfd(&cluster, 0, false), *three = write_nfd(&cluster, 2, false);
        g_autofree char *four = write_nfd(&cluster, 3, false);
        g_autofree char *forced = write_nfd(&cluster, 2, true), *six = write_nfd(&cluster, 5, false);

        g_assert_cmpstr(one, ==,
                NFD_HEAD "# Oldest figure: measured 2026-11-26T02:26:40Z\n# Node: n1\n" NFD
                         "gpu.advanced-stuff--inc=true\n" NFD "gpu.nvidia=true\n" NFD
                         "rdma.infiniband=true\n" NFD "thunderbolt=true\n"
                         "# +expiry-time=2026-11-27T02:26:40Z\n" NFD "net.class=100g\n" NFD
                         "net.mbps=93500\n" NFD "memory.read-gbytes=935\n" NFD "fp16.tflops=82\n");
        g_assert_cmpstr(three, ==,
                NFD_HEAD "# Oldest figure: measured 2026-11-26T05:13:20Z\n# Node: n3\n" NFD "rdma.roce=true\n"
                         "# +expiry-time=2026-11-27T05:13:20Z\n" NFD "net.class=100g\n" NFD
                         "net.mbps=93500\n");
        g_assert_nonnull(strstr(four, NFD "rdma.iwarp=true\n"));
        g_assert_null(strstr(four, "roce"));
        g_assert_null(strstr(forced, "expiry"));
        g_assert_nonnull(strstr(forced, NFD "memory.read-gbytes=99\n"));
        g_assert_cmpstr(six, ==,
                NFD_HEAD "# No measured figures: there are none yet, or they were measured beside other "
                         "work.\n# Node: n6\n");
        ald_model_free(cluster.model);
}

static void test_classes(void)
{
        g_assert_cmpstr(ald_net_class(NAN), ==, NULL);
        g_assert_cmpstr(ald_net_class(0.899e9), ==, NULL);
        g_assert_cmpstr(ald_net_class(0.941e9), ==, "1g");
        g_assert_cmpstr(ald_net_class(2.35e9), ==, "2.5g");
        g_assert_cmpstr(ald_net_class(9.41e9), ==, "10g");
        g_assert_cmpstr(ald_net_class(22.4e9), ==, "20g");
        g_assert_cmpstr(ald_net_class(1e15), ==, "800g");
        g_assert_cmpuint(ald_figure_class(NAN), ==, 0);
        g_assert_cmpuint(ald_figure_class(0.99), ==, 0);
        for (unsigned figure = 1; figure < 10000; figure++) {
                unsigned class = ald_figure_class(figure), leading = class;

                while (leading % 10 == 0)
                        leading /= 10;
                g_assert_true(leading == 1 || leading == 2 || leading == 5);
                g_assert_true(class <= figure && figure < class * (leading == 2 ? 2.5 : 2));
        }
}

#define LEAF_NODES 24u

static bool same_leaf(const unsigned *leaf_of, const AldLeafPair *pair)
{
        return leaf_of[pair->a] == leaf_of[pair->b];
}

static bool is_fast(const AldLeafPair *pairs, size_t n, const AldLeafPair *pair)
{
        for (size_t i = 0; i < n; i++)
                if ((pairs[i].a == pair->a || pairs[i].b == pair->a || pairs[i].a == pair->b ||
                            pairs[i].b == pair->b) &&
                        pair->rate < pairs[i].rate / 2)
                        return false;
        return true;
}

/* Whether a slow pair keeps the leaves of this pair apart. */
static bool is_kept_apart(
        const AldLeafPair *pairs, size_t n, const unsigned *leaf_of, const AldLeafPair *pair)
{
        unsigned a = leaf_of[pair->a], b = leaf_of[pair->b];

        for (size_t i = 0; i < n; i++) {
                unsigned x = leaf_of[pairs[i].a], y = leaf_of[pairs[i].b];

                if (((x == a && y == b) || (x == b && y == a)) && !is_fast(pairs, n, &pairs[i]))
                        return true;
        }
        return false;
}

static void shuffle(AldLeafPair *pairs, size_t n)
{
        for (size_t i = n; i > 1; i--) {
                size_t k = (size_t) g_test_rand_int_range(0, (gint32) i);
                AldLeafPair kept = pairs[i - 1];

                pairs[i - 1] = pairs[k];
                pairs[k] = kept;
        }
}

static void test_leaves_of_random_rates(void)
{
        for (unsigned round = 0; round < 40; round++) {
                AldLeafPair pairs[LEAF_NODES * LEAF_NODES];
                g_autofree unsigned *leaf_of = NULL, *again = NULL;
                size_t n = 0;

                for (unsigned a = 0; a < LEAF_NODES; a++)
                        for (unsigned b = a + 1; b < LEAF_NODES; b++)
                                if (g_test_rand_int_range(0, 3) > 0)
                                        pairs[n++] = (AldLeafPair){ a, b, g_test_rand_int_range(1, 8) };
                leaf_of = ald_leaf_switches(pairs, n, LEAF_NODES);
                shuffle(pairs, n);
                again = ald_leaf_switches(pairs, n, LEAF_NODES);
                g_assert_cmpmem(leaf_of, LEAF_NODES * sizeof(*leaf_of), again, LEAF_NODES * sizeof(*again));
                for (size_t i = 0; i < n; i++)
                        if (same_leaf(leaf_of, &pairs[i]))
                                g_assert_true(is_fast(pairs, n, &pairs[i]));
                        else if (is_fast(pairs, n, &pairs[i]))
                                g_assert_true(is_kept_apart(pairs, n, leaf_of, &pairs[i]));
                for (unsigned i = 0; i < LEAF_NODES; i++)
                        g_assert_true(leaf_of[i] <= i && leaf_of[leaf_of[i]] == leaf_of[i]);
        }
}

/* Racks are found again, whatever nodes are in them. */
static void test_leaves_of_racks(void)
{
        for (unsigned round = 0; round < 40; round++) {
                AldLeafPair pairs[LEAF_NODES * LEAF_NODES];
                unsigned rack[LEAF_NODES];
                g_autofree unsigned *leaf_of = NULL;
                size_t n = 0;

                for (unsigned a = 0; a < LEAF_NODES; a++)
                        rack[a] = (unsigned) g_test_rand_int_range(0, 4);
                for (unsigned a = 0; a < LEAF_NODES; a++)
                        for (unsigned b = a + 1; b < LEAF_NODES; b++)
                                pairs[n++] = (AldLeafPair){ a, b,
                                        rack[a] == rack[b] ? g_test_rand_double_range(60, 100)
                                                           : g_test_rand_double_range(5, 25) };
                leaf_of = ald_leaf_switches(pairs, n, LEAF_NODES);
                for (size_t i = 0; i < n; i++)
                        if (rack[pairs[i].a] == rack[pairs[i].b])
                                g_assert_true(same_leaf(leaf_of, &pairs[i]));
                        else if (same_leaf(leaf_of, &pairs[i]))
                                g_assert_true(is_fast(pairs, n, &pairs[i]));
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/export/slurm", test_slurm);
        g_test_add_func("/export/slurm-names", test_slurm_refuses_names);
        g_test_add_func("/export/slurm-full-names", test_slurm_full_names);
        g_test_add_func("/export/slurm-contested-names", test_slurm_of_contested_names);
        g_test_add_func("/export/slurm-old-rates", test_slurm_refuses_old_rates);
        g_test_add_func("/export/slurm-clocks", test_clocks);
        g_test_add_func("/export/slurm-nobody", test_slurm_of_nobody);
        g_test_add_func("/export/nfd", test_nfd);
        g_test_add_func("/export/classes", test_classes);
        g_test_add_func("/export/leaves-random", test_leaves_of_random_rates);
        g_test_add_func("/export/leaves-racks", test_leaves_of_racks);
        return g_test_run();
}
