/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings-report.h"
#include "state/owners.h"
#include "state/rdma-problem.h"

/* RDMA ports that cannot be used, and why; hardware of which two nodes say that it is theirs. */

#define NAMED_MAX 8u

static void find_in_port(
        AldReport *report, const AldNode *node, const AldRdmaPort *port, GHashTable *failures)
{
        g_auto(AldRdmaProblem) problem = { 0 };
        g_autofree char *name = NULL, *where = NULL;

        if (!ald_rdma_problem_find(node, port, failures, &problem) ||
                ald_report_full(report, "rdma-unusable"))
                return;
        name = ald_report_name(report, &node->id);
        where = port->interface ? g_strdup_printf(" (%s)", port->interface) : g_strdup("");
        ald_report_add(report, problem.severity, "rdma-unusable", &node->id, 1,
                g_strdup_printf(
                        "RDMA port %s%s on %s cannot be used: %s.", port->id, where, name, problem.reason),
                g_strdup(problem.remedy));
}

static gboolean find_in_fabric(AldNode *node, void *userdata)
{
        const AldFabric *fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
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

static void tell_contested(const char *name, GPtrArray *nodes, void *userdata)
{
        AldReport *report = userdata;
        g_autofree AldId *ids = NULL;
        g_autofree char *names = NULL;

        if (ald_report_full(report, "hardware-claimed-twice"))
                return;
        ids = g_new(AldId, nodes->len);
        for (guint i = 0; i < nodes->len; i++)
                ids[i] = ((const AldNode *) nodes->pdata[i])->id;
        names = ald_report_names(report, ids, nodes->len, NAMED_MAX);
        ald_report_add(report, ALD_SEVERITY_WARNING, "hardware-claimed-twice", ids, nodes->len,
                g_strdup_printf("%s say that %s is theirs, which is believed of none of them.", names, name),
                g_strdup("Give a copied virtual machine hardware addresses and GUIDs of its own; a container "
                         "need not show the devices of its host."));
}

void ald_find_contested_hardware(AldReport *report)
{
        g_autoptr(AldOwners) owners = ald_owners_new(report->store, NULL);

        ald_owners_foreach_contested(owners, tell_contested, report);
}
