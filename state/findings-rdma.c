/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings-report.h"

/* RDMA ports that cannot be used, and why. */

typedef struct Fault {
        AldSeverity severity;
        const char *reason;
        const char *remedy;
} Fault;

static bool is(const char *string, const char *value)
{
        return string && strcmp(string, value) == 0;
}

static bool over_infiniband(const AldRdmaPort *port)
{
        return is(port->link_layer, ald_rdma_port_link_layer_to_string(ALD_RDMA_PORT_LINK_LAYER_INFINIBAND));
}

/* A port without a cable is an everyday sight on cards that have two. */
static Fault fault_of_down_port(const AldInterface *interface)
{
        if (interface && interface->carrier == 0)
                return (Fault){ ALD_SEVERITY_NOTICE, "it is down, and its interface has no carrier",
                        "Plug in its cable, or switch on what is at the other end." };
        return (Fault){ ALD_SEVERITY_NOTICE, "it is down",
                "Check its cable, and bring its network interface up." };
}

/* False where the port can be used, or where nobody knows. */
static bool find_fault(const AldRdmaPort *port, const AldInterface *interface, Fault *ret)
{
        if (!port->state)
                return false;
        if (is(port->state, "down"))
                *ret = fault_of_down_port(interface);
        else if (is(port->state, "init") && over_infiniband(port))
                *ret = (Fault){ ALD_SEVERITY_WARNING, "it waits for a subnet manager",
                        "Start a subnet manager, such as opensm, on one node of this fabric." };
        else if (is(port->state, "armed") && over_infiniband(port))
                *ret = (Fault){ ALD_SEVERITY_WARNING, "the subnet manager has not made it active",
                        "Look into the log of the subnet manager." };
        else if (!is(port->state, "active"))
                *ret = (Fault){ ALD_SEVERITY_WARNING, "it is not active",
                        "Bring its network interface up, and look into the kernel's log." };
        else if (!port->gids && over_infiniband(port))
                *ret = (Fault){ ALD_SEVERITY_WARNING, "it has no GID",
                        "Look into the log of the subnet manager." };
        else if (!port->gids)
                *ret = (Fault){ ALD_SEVERITY_WARNING, "it has no GID",
                        "Give its network interface an address, since its GIDs are made of these." };
        else
                return false;
        return true;
}

static void find_in_port(AldReport *report, const AldNode *node, const AldRdmaPort *port)
{
        const AldNetwork *network = ald_record_as(
                ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);
        const AldInterface *interface = network && port->interface ? ald_rows_find(&network->interfaces,
                                                                             port->interface)
                                                                   : NULL;
        g_autofree char *name = NULL, *where = NULL;
        Fault fault;

        if (!find_fault(port, interface, &fault) || ald_report_full(report, "rdma-unusable"))
                return;
        name = ald_report_name(report, &node->id);
        where = port->interface ? g_strdup_printf(" (%s)", port->interface) : g_strdup("");
        ald_report_add(report, fault.severity, "rdma-unusable", &node->id, 1,
                g_strdup_printf(
                        "RDMA port %s%s on %s cannot be used: %s.", port->id, where, name, fault.reason),
                g_strdup(fault.remedy));
}

static gboolean find_in_fabric(AldNode *node, void *userdata)
{
        const AldFabric *fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);

        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++)
                find_in_port(userdata, node, ald_rows_at(&fabric->rdma_ports, i));
        return FALSE;
}

void ald_find_in_rdma_ports(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_fabric, report);
}
