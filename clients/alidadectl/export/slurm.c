/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "clients/alidadectl/export/leaf-switches.h"
#include "clients/alidadectl/export/node-features.h"
#include "clients/alidadectl/export/slurm.h"

/* A node that counts. */
typedef struct SlurmHost {
        char *name;
        unsigned index; /* in the topology */
} SlurmHost;

typedef struct SlurmTree {
        const AldExportState *state;
        GArray *hosts;      /* SlurmHost, by name */
        GPtrArray *unnamed; /* names of nodes that are left out for lack of a host name */
        GArray *contested;  /* SlurmHost, left out because another node has the same host name */
        GArray *pairs;      /* AldLeafPair of hosts */
        uint64_t oldest_usec;
} SlurmTree;

static void clear_host(gpointer data)
{
        g_free(((SlurmHost *) data)->name);
}

static void slurm_tree_clear(SlurmTree *tree)
{
        g_array_unref(tree->hosts);
        g_ptr_array_unref(tree->unnamed);
        g_array_unref(tree->contested);
        g_array_unref(tree->pairs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SlurmTree, slurm_tree_clear)

static SlurmHost *host_at(const SlurmTree *tree, guint i)
{
        return &g_array_index(tree->hosts, SlurmHost, i);
}

/* DNS ignores case, so NODE2 would be mistaken for node2. */
static gint compare_hosts(gconstpointer a, gconstpointer b)
{
        const SlurmHost *left = a, *right = b;
        int r = g_ascii_strcasecmp(left->name, right->name);

        return r != 0 ? r : (gint) left->index - (gint) right->index;
}

static int fail_with(int error, char **ret_reason, char *reason)
{
        *ret_reason = reason;
        return error;
}

/* Returns true if full names distinguish two hosts that have the same short name. */
static bool full_names_differ(const AldExportState *state, const SlurmHost *a, const SlurmHost *b)
{
        AldExportState full = *state;
        g_autofree char *name_a = NULL, *name_b = NULL;

        full.full_names = true;
        name_a = ald_export_state_host(&full, ald_export_state_node(state, a->index));
        name_b = ald_export_state_host(&full, ald_export_state_node(state, b->index));
        return name_a && name_b && g_ascii_strcasecmp(name_a, name_b) != 0;
}

static guint count_alike(const SlurmTree *tree, guint first)
{
        guint n = 1;

        while (first + n < tree->hosts->len &&
                g_ascii_strcasecmp(host_at(tree, first)->name, host_at(tree, first + n)->name) == 0)
                n++;
        return n;
}

/* Leaves out all nodes with the same host name, since it is unknown which of them really has it. */
static void leave_out_hosts(SlurmTree *tree, guint first, guint n)
{
        for (guint i = first; i < first + n; i++) {
                SlurmHost host = *host_at(tree, i);

                host.name = g_strdup(host.name);
                g_array_append_val(tree->contested, host);
        }
        g_array_remove_range(tree->hosts, first, n);
}

static char *describe_alike(const SlurmTree *tree, const SlurmHost *a, const SlurmHost *b)
{
        return g_strdup_printf("Two nodes, %s and %s, have the host name %s%s",
                ald_export_state_node(tree->state, a->index)->id,
                ald_export_state_node(tree->state, b->index)->id, a->name,
                full_names_differ(tree->state, a, b) ? " up to its first dot; --names=full tells them apart"
                                                     : "");
}

static int check_hosts(SlurmTree *tree, char **ret_reason)
{
        for (guint i = 0; i < tree->hosts->len;) {
                const SlurmHost *host = host_at(tree, i);
                guint n = count_alike(tree, i);

                if (n == 1) {
                        i++;
                        continue;
                }
                if (!tree->state->force)
                        return fail_with(
                                -ENXIO, ret_reason, describe_alike(tree, host, host_at(tree, i + 1)));
                leave_out_hosts(tree, i, n);
        }
        if (tree->hosts->len > 0)
                return 0;
        return fail_with(-ENODATA, ret_reason,
                tree->contested->len > 1 ? describe_alike(tree, &g_array_index(tree->contested, SlurmHost, 0),
                                                   &g_array_index(tree->contested, SlurmHost, 1))
                                         : g_strdup("No node has a known host name"));
}

static int find_hosts(SlurmTree *tree, char **ret_reason)
{
        const AldTopologySummary *summary = tree->state->summary;

        for (guint i = 0; i < summary->nodes->len; i++) {
                const AldTopologyNode *node = summary->nodes->pdata[i];
                SlurmHost host = { .index = i };

                if (!ald_export_state_counts(tree->state, i))
                        continue;
                host.name = ald_export_state_host(tree->state, ald_export_state_node(tree->state, i));
                if (host.name)
                        g_array_append_val(tree->hosts, host);
                else if (tree->state->force)
                        g_ptr_array_add(tree->unnamed, node->name);
                else
                        return fail_with(-ENXIO, ret_reason,
                                g_strdup_printf("The host name of %s is unknown, or Slurm cannot take it",
                                        node->name));
        }
        g_array_sort(tree->hosts, compare_hosts);
        return check_hosts(tree, ret_reason);
}

static int add_pair(SlurmTree *tree, guint a, guint b, char **ret_reason)
{
        const AldNodePair *pair = ald_topology_summary_find(
                tree->state->summary, host_at(tree, a)->index, host_at(tree, b)->index);
        AldPairRate rate = { .bits_per_second = NAN };
        AldLeafPair leaf;

        if (pair)
                rate = ald_export_state_rate(tree->state, pair);
        if (isnan(rate.bits_per_second))
                return 0;
        if (rate.is_old && !tree->state->force)
                return fail_with(-ESTALE, ret_reason,
                        g_strdup_printf("The rate between %s and %s is older than 24 h",
                                host_at(tree, a)->name, host_at(tree, b)->name));
        leaf = (AldLeafPair){ .a = a, .b = b, .rate = rate.bits_per_second };
        g_array_append_val(tree->pairs, leaf);
        tree->oldest_usec = MIN(tree->oldest_usec, rate.measured_usec);
        return 0;
}

static int find_pairs(SlurmTree *tree, char **ret_reason)
{
        int r = 0;

        for (guint a = 0; a < tree->hosts->len && r >= 0; a++)
                for (guint b = a + 1; b < tree->hosts->len && r >= 0; b++)
                        r = add_pair(tree, a, b, ret_reason);
        return r;
}

static void append_switches(GString *out, const SlurmTree *tree)
{
        g_autofree unsigned *leaf_of = ald_leaf_switches(
                (AldLeafPair *) tree->pairs->data, tree->pairs->len, tree->hosts->len);
        unsigned n_leaves = 0;

        for (guint i = 0; i < tree->hosts->len; i++) {
                if (leaf_of[i] != i)
                        continue;
                g_string_append_printf(out, "SwitchName=leaf%u Nodes=%s", n_leaves++, host_at(tree, i)->name);
                for (guint k = i + 1; k < tree->hosts->len; k++)
                        if (leaf_of[k] == i)
                                g_string_append_printf(out, ",%s", host_at(tree, k)->name);
                g_string_append_c(out, '\n');
        }
        if (n_leaves > 1)
                g_string_append_printf(out, "SwitchName=top Switches=leaf[0-%u]\n", n_leaves - 1);
}

static void append_class(GString *words, const char *format, double figure)
{
        unsigned class = ald_figure_class(figure);

        if (class > 0)
                g_string_append_printf(words, format, class);
}

static void append_features(GString *out, const SlurmTree *tree, const SlurmHost *host)
{
        g_auto(AldNodeFeatures) features;
        g_autoptr(GString) words = g_string_new(NULL);
        const char *net;

        ald_node_features_init(&features, tree->state, host->index);
        net = ald_net_class(features.net_bits_per_second);
        for (guint i = 0; i < features.vendors->len; i++)
                g_string_append_printf(words, ",gpu-%s", (const char *) features.vendors->pdata[i]);
        g_string_append(words, features.infiniband ? ",rdma-infiniband" : "");
        g_string_append(words, features.roce ? ",rdma-roce" : "");
        g_string_append(words, features.iwarp ? ",rdma-iwarp" : "");
        g_string_append(words, features.thunderbolt ? ",thunderbolt" : "");
        if (net)
                g_string_append_printf(words, ",net-%s", net);
        append_class(words, ",read-%ug", features.read_bytes_per_second / 1e9);
        append_class(words, ",fp16-%ut", features.tflops);
        if (words->len > 0)
                g_string_append_printf(out, "#   NodeName=%s Features=%s\n", host->name, words->str + 1);
}

static void append_tree(GString *out, const SlurmTree *tree)
{
        ald_export_state_append_header(out, tree->state, "topology.conf of Slurm", tree->oldest_usec);
        g_string_append(out,
                "# Leaf switches join nodes whose measured rates are at least half of the best one of "
                "either node.\n# In slurm.conf: TopologyPlugin=topology/tree\n");
        append_switches(out, tree);
        for (guint i = 0; i < tree->unnamed->len; i++)
                g_string_append_printf(out, "# Left out, without a known host name: %s\n",
                        (const char *) tree->unnamed->pdata[i]);
        for (guint i = 0; i < tree->contested->len; i++) {
                const SlurmHost *host = &g_array_index(tree->contested, SlurmHost, i);

                g_string_append_printf(out, "# Left out, since several nodes have the host name %s: %s\n",
                        host->name, ald_export_state_node(tree->state, host->index)->id);
        }
        g_string_append(out, "#\n# For the lines of the nodes in slurm.conf:\n");
        for (guint i = 0; i < tree->hosts->len; i++)
                append_features(out, tree, host_at(tree, i));
}

int ald_slurm_write(GString *out, const AldExportState *state, unsigned *ret_n_left_out, char **ret_reason)
{
        g_auto(SlurmTree) tree = { .state = state,
                .hosts = g_array_new(false, false, sizeof(SlurmHost)),
                .unnamed = g_ptr_array_new(),
                .contested = g_array_new(false, false, sizeof(SlurmHost)),
                .pairs = g_array_new(false, false, sizeof(AldLeafPair)),
                .oldest_usec = ALD_ABSENT_UINT64 };
        int r;

        g_array_set_clear_func(tree.hosts, clear_host);
        g_array_set_clear_func(tree.contested, clear_host);
        r = find_hosts(&tree, ret_reason);
        if (r >= 0)
                r = find_pairs(&tree, ret_reason);
        if (r < 0)
                return r;
        append_tree(out, &tree);
        *ret_n_left_out = tree.unnamed->len + tree.contested->len;
        return 0;
}
