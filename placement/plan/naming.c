/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/export/export-words.h"
#include "placement/plan/naming.h"

bool ald_plan_can_name_device(const AldPlanEngine *engine, const AldPlanDevice *device)
{
        return device->is_processor || !engine->takes_gpus || !strchr(device->id, '/');
}

/* A list for NCCL can hold the name of a network interface, or that of an adapter without ".1", its port. */
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

/* Nodes find each other by addresses, or else by host names. */
static bool can_name_end(const AldPlanNode *node, const char *address)
{
        return (!address && !node->host_name) || ald_export_is_address(address) ||
               ald_export_is_host_name(node->host_name);
}

/* A host file has host names, or else IPv4 addresses. */
static bool can_name_host(const AldPlanNode *node, const char *address)
{
        return (!address && !node->host_name) || ald_export_is_ipv4(address) ||
               ald_export_is_host_name(node->host_name);
}

bool ald_plan_can_name_path(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const AldPlanPath *path)
{
        const AldPlanNode *source = &cluster->nodes[path->source], *sink = &cluster->nodes[path->sink];
        const AldEdgeRow *edge = path->edge;

        switch (engine->names) {
        case ALD_PLAN_NAMES_IPV4:
                return !path->sink_address || ald_export_is_ipv4(path->sink_address);
        case ALD_PLAN_NAMES_HOSTS:
                if (!can_name_host(source, path->source_address) || !can_name_host(sink, path->sink_address))
                        return false;
                break;
        case ALD_PLAN_NAMES_RANKS:
                if (!can_name_end(source, path->source_address) || !can_name_end(sink, path->sink_address))
                        return false;
                break;
        default:
                return true;
        }
        return !edge || (can_name_port(edge->source_port, path->is_rdma) &&
                                can_name_port(edge->sink_port, path->is_rdma));
}
