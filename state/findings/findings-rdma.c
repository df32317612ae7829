/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-report.h"
#include "state/topology/owners.h"
#include "state/topology/rdma-problem.h"

/* Finds RDMA ports that cannot be used, and hardware that two nodes claim. */

/* A virtual function is down until its guest brings it up, and an adapter may have a hundred of them. */
static bool is_idle_function(const AldRdmaPort *port)
{
        return port->virtual == 1 && g_strcmp0(port->state, "active") != 0;
}

static void find_in_port(
        AldReport *report, const AldNode *node, const AldRdmaPort *port, GHashTable *failures)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        AldRdmaProblem problem;

        if (is_idle_function(port) || !ald_rdma_problem_find(node, port, failures, &problem) ||
                ald_report_full(
                        report, problem.severity, ALD_FINDING_ROW_ID_RDMA_UNUSABLE, &node->id, &node->id, 1))
                return;
        row.port = port->id;
        row.problem = problem.word;
        row.link_layer = problem.link_layer;
        row.interface = problem.interface;
        row.controller = problem.controller;
        row.carrier = problem.carrier;
        ald_report_add(
                report, problem.severity, ALD_FINDING_ROW_ID_RDMA_UNUSABLE, &node->id, &node->id, 1, &row);
}

static gboolean find_in_fabric(AldNode *node, void *userdata)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        g_autoptr(GHashTable) failures = NULL;

        if (!fabric || fabric->rdma_ports.n == 0 || !ald_node_counts(node))
                return FALSE;
        failures = ald_rdma_failures(node);
        for (size_t i = 0; i < fabric->rdma_ports.n; i++)
                find_in_port(userdata, node, ald_rows_at(&fabric->rdma_ports, i), failures);
        return FALSE;
}

void ald_find_in_rdma_ports(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_fabric, report);
}

static void add_contested(const char *name, GPtrArray *nodes, void *userdata)
{
        AldReport *report = userdata;
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        g_autofree AldId *ids = g_new(AldId, nodes->len);

        for (guint i = 0; i < nodes->len; i++)
                ids[i] = ((const AldNode *) nodes->pdata[i])->id;
        if (ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                    ALD_FINDING_ROW_ID_HARDWARE_CLAIMED_TWICE, NULL, ids, nodes->len))
                return;
        row.address = name;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_HARDWARE_CLAIMED_TWICE,
                NULL, ids, nodes->len, &row);
}

void ald_find_contested_hardware(AldReport *report)
{
        g_autoptr(AldOwners) owners = ald_owners_new(report->store, NULL);

        ald_owners_foreach_contested(owners, add_contested, report);
}
