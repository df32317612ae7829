/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/plan/export-words.h"
#include "placement/plan/naming.h"

bool ald_plan_can_name_device(const AldPlanEngine *engine, const AldPlanDevice *device)
{
        return device->is_processor || !engine->takes_gpus || !strchr(device->id, '/');
}

bool *ald_plan_shared_host_names(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const uint32_t *places)
{
        g_autoptr(GHashTable) first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        bool *shared = NULL;

        for (uint32_t i = 0; engine->names == ALD_PLAN_NAMES_HOSTS && i < cluster->n_nodes; i++) {
                const char *host = cluster->nodes[i].host_name;
                g_autofree char *key = host ? g_ascii_strdown(host, -1) : NULL;
                gpointer other;

                if (!key || places[i] == ALD_PLAN_NONE)
                        continue;
                if (!g_hash_table_lookup_extended(first, key, NULL, &other)) {
                        g_hash_table_insert(first, g_steal_pointer(&key), GUINT_TO_POINTER(i));
                        continue;
                }
                if (!shared)
                        shared = g_new0(bool, cluster->n_nodes);
                shared[i] = shared[GPOINTER_TO_UINT(other)] = true;
        }
        return shared;
}

/* Returns whether a list for NCCL can name the port: a network interface, or an adapter for RDMA without its
 * suffix ".1", which is the port number. */
static bool can_name_port(const char *port, bool is_rdma)
{
        const char *dot = port ? strrchr(port, '.') : NULL;
        g_autofree char *adapter = dot ? g_strndup(port, (gsize) (dot - port)) : NULL;

        if (!port)
                return true;
        if (!is_rdma)
                return ald_export_is_interface(port);
        return dot && dot[1] != '\0' && dot[1 + strspn(dot + 1, "0123456789")] == '\0' &&
               ald_export_is_interface(adapter);
}

/* One end of a path. */
typedef struct PathEnd {
        const AldPlanNode *node;
        const char *address, *port;
        bool is_shared;   /* another node has the same host name */
        bool is_measured; /* the path was measured, so it has an address, known or not */
        bool is_rdma;
} PathEnd;

/* Returns whether an end of a path can be named. Nodes find each other by addresses, or by host names if
 * there are none. A host file contains host names, or IPv4 addresses if there are none or if nodes share a
 * host name. */
static AldPlanUnnamed check_end_names(const AldPlanEngine *engine, const PathEnd *end)
{
        bool by_host = engine->names == ALD_PLAN_NAMES_HOSTS;
        bool has_address = by_host ? ald_export_is_ipv4(end->address) : ald_export_is_address(end->address);

        if (end->is_shared && !has_address)
                return ALD_PLAN_HOST_NAME_SHARED;
        if (!has_address && !ald_export_is_host_name(end->node->host_name) &&
                (end->is_measured || end->address || end->node->host_name))
                return ALD_PLAN_HOST_UNNAMED;
        return can_name_port(end->port, end->is_rdma) ? ALD_PLAN_NAMED : ALD_PLAN_PORT_UNNAMED;
}

AldPlanUnnamed ald_plan_check_path_names(const AldPlanCluster *cluster, const AldPlanEngine *engine,
        const bool *shared, const AldPlanPath *path, uint32_t *ret_node)
{
        const AldEdgeRow *edge = path->edge;
        const PathEnd source = { .node = &cluster->nodes[path->source],
                .address = path->source_address,
                .port = edge ? edge->source_port : NULL,
                .is_shared = shared && shared[path->source],
                .is_measured = edge,
                .is_rdma = path->is_rdma };
        const PathEnd sink = { .node = &cluster->nodes[path->sink],
                .address = path->sink_address,
                .port = edge ? edge->sink_port : NULL,
                .is_shared = shared && shared[path->sink],
                .is_measured = edge,
                .is_rdma = path->is_rdma };
        AldPlanUnnamed unnamed;

        *ret_node = path->sink;
        switch (engine->names) {
        case ALD_PLAN_NAMES_IPV4:
                if (!path->sink_address)
                        return edge ? ALD_PLAN_ADDRESS_UNKNOWN : ALD_PLAN_NAMED;
                return ald_export_is_ipv4(path->sink_address) ? ALD_PLAN_NAMED : ALD_PLAN_ADDRESS_IPV6;
        case ALD_PLAN_NAMES_HOSTS:
        case ALD_PLAN_NAMES_RANKS:
                unnamed = check_end_names(engine, &sink);
                if (unnamed != ALD_PLAN_NAMED)
                        return unnamed;
                *ret_node = path->source;
                return check_end_names(engine, &source);
        default:
                return ALD_PLAN_NAMED;
        }
}
