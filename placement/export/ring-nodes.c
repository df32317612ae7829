/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/export/ring-nodes.h"
#include "placement/plan/export-words.h"

static void ring_node_clear(gpointer data)
{
        AldRingNode *node = data;

        g_string_free(node->interfaces, true);
        g_string_free(node->adapters, true);
}

static void add_once(GString *list, const char *item)
{
        g_auto(GStrv) items = g_strsplit(list->str, ",", -1);

        if (g_strv_contains((const char *const *) items, item))
                return;
        if (list->len > 0)
                g_string_append_c(list, ',');
        g_string_append(list, item);
}

static int add_port(AldRingNode *node, const AldPlanHopRow *hop, const char *port, char **ret_reason)
{
        bool is_rdma = ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_RDMA);
        const char *dot = port ? strrchr(port, '.') : NULL;
        g_autofree char *name = NULL;

        if (!port)
                return 0;
        name = is_rdma && dot ? g_strndup(port, (gsize) (dot - port)) : g_strdup(port);
        if (!ald_export_is_interface(name) ||
                (is_rdma && (!dot || dot[1] == '\0' || dot[1 + strspn(dot + 1, "0123456789")] != '\0')))
                return ald_export_fail(-EINVAL, ret_reason,
                        "The port \"%s\" of %s has a name that NCCL cannot take", port,
                        ald_export_stage_name(node->stage));
        if (is_rdma) {
                g_autofree char *adapter = g_strdup_printf("%s:%s", name, dot + 1);

                add_once(node->adapters, adapter);
        } else {
                add_once(node->interfaces, name);
        }
        return 0;
}

/* Adds the end of a hop at the node. The first end with an address is where other nodes reach it. */
static int add_end(AldRingNode *node, const AldPlanHopRow *hop, bool is_sink, char **ret_reason)
{
        const char *address = is_sink ? hop->sink_address : hop->source_address;
        const char *port = is_sink ? hop->sink_port : hop->source_port;
        int r = add_port(node, hop, port, ret_reason);

        if (r >= 0 && !node->address && ald_export_is_address(address)) {
                node->address = address;
                node->interface = ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_SOCKET) ? port : NULL;
        }
        return r;
}

static int add_hops(const AldExportPlan *plan, GArray *nodes, guint index, char **ret_reason)
{
        AldRingNode *node = &g_array_index(nodes, AldRingNode, index);
        const AldRingNode *before = &g_array_index(nodes, AldRingNode, (index + nodes->len - 1) % nodes->len);
        const AldRingNode *after = &g_array_index(nodes, AldRingNode, (index + 1) % nodes->len);
        const AldPlanHopRow *in = ald_export_find_hop(
                plan, before->first_stage + before->n_stages - 1, before->stage->node, node->stage->node);
        const AldPlanHopRow *out = ald_export_find_hop(
                plan, node->first_stage + node->n_stages - 1, node->stage->node, after->stage->node);
        int r = 0;

        if (nodes->len > 1 && (!in || !out))
                return ald_export_fail(-ENODATA, ret_reason, "The plan is broken: a hop of %s is missing",
                        ald_export_stage_name(node->stage));
        if (nodes->len > 1)
                r = add_end(node, in, true, ret_reason);
        if (nodes->len > 1 && r >= 0)
                r = add_end(node, out, false, ret_reason);
        return r;
}

static int add_stage(const AldExportPlan *plan, GArray *nodes, guint index, char **ret_reason)
{
        const AldPlanStageRow *stage = &plan->stages[index];
        AldRingNode node = { .stage = stage, .first_stage = index, .n_stages = 1 };

        for (guint i = 0; i < nodes->len; i++) {
                AldRingNode *known = &g_array_index(nodes, AldRingNode, i);

                if (strcmp(known->stage->node, stage->node) != 0)
                        continue;
                known->n_stages++;
                return i + 1 == nodes->len
                               ? 0
                               : ald_export_fail(-ENOTSUP, ret_reason,
                                         "%s is in two places of the ring, which the format cannot express",
                                         ald_export_stage_name(stage));
        }
        node.interfaces = g_string_new(NULL);
        node.adapters = g_string_new(NULL);
        g_array_append_val(nodes, node);
        return 0;
}

int ald_ring_nodes(const AldExportPlan *plan, GArray **ret, char **ret_reason)
{
        g_autoptr(GArray) nodes = g_array_new(false, false, sizeof(AldRingNode));
        int r = 0;

        g_array_set_clear_func(nodes, ring_node_clear);
        for (guint i = 0; i < plan->n_stages && r >= 0; i++)
                r = add_stage(plan, nodes, i, ret_reason);
        for (guint i = 0; i < nodes->len && r >= 0; i++)
                r = add_hops(plan, nodes, i, ret_reason);
        if (r >= 0)
                *ret = g_steal_pointer(&nodes);
        return r;
}

int ald_ring_master(const AldRingNode *node, const char **ret, char **ret_reason)
{
        const char *host = node->stage->host_name;

        if (!node->address && !ald_export_is_host_name(host))
                return ald_export_fail(-EINVAL, ret_reason,
                        "Neither an address nor a host name of %s is known that the others could use",
                        ald_export_stage_name(node->stage));
        *ret = node->address ?: host;
        return 0;
}

static int append_gpus(GString *out, const AldExportPlan *plan, const AldRingNode *node, char **ret_reason)
{
        static const struct {
                const char *vendor, *order, *variable;
        } kinds[] = { { "NVIDIA", "CUDA_DEVICE_ORDER=PCI_BUS_ID ", "CUDA_VISIBLE_DEVICES" },
                { "AMD", "", "HIP_VISIBLE_DEVICES" }, { "Intel", "", "ZE_AFFINITY_MASK" } };
        g_autoptr(GString) numbers = g_string_new(NULL);

        for (guint i = 0; i < node->n_stages; i++) {
                guint number;
                int r;

                if (ald_export_is_processor(&node->stage[i]))
                        return 0;
                r = ald_export_gpu_number(plan, &node->stage[i], true, &number, ret_reason);
                if (r < 0)
                        return r;
                g_string_append_printf(numbers, "%s%u", i > 0 ? "," : "", number);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (ald_export_vendor_is(node->stage, kinds[i].vendor)) {
                        g_string_append(out, kinds[i].order);
                        ald_export_append_variable(out, kinds[i].variable, numbers->str);
                }
        return 0;
}

/* Returns whether the plan has measured hops between nodes, all of them over sockets. NCCL prefers any RDMA
 * adapter, even one that does not reach the other nodes. */
static bool has_sockets_only(const AldExportPlan *plan)
{
        const GArray *hops = plan->report->hops;
        bool has_sockets = false;

        for (guint i = 0; i < hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative != 0 || ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_INNER))
                        continue;
                if (!ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_SOCKET))
                        return false;
                has_sockets = true;
        }
        return has_sockets;
}

int ald_ring_append_variables(
        GString *out, const AldExportPlan *plan, const AldRingNode *node, char **ret_reason)
{
        g_autofree char *exact = g_strconcat("=", node->interfaces->str, NULL);
        g_autofree char *adapters = g_strconcat("=", node->adapters->str, NULL);

        if (node->interfaces->len > 0)
                ald_export_append_variable(out, "NCCL_SOCKET_IFNAME", exact);
        if (node->interface)
                ald_export_append_variable(out, "GLOO_SOCKET_IFNAME", node->interface);
        if (node->adapters->len > 0)
                ald_export_append_variable(out, "NCCL_IB_HCA", adapters);
        else if (has_sockets_only(plan))
                ald_export_append_variable(out, "NCCL_IB_DISABLE", "1");
        return plan->engine && !plan->engine->takes_gpus ? 0 : append_gpus(out, plan, node, ret_reason);
}
