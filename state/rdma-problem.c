/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/network.h"
#include "state/rdma-problem.h"
#include "state/segments.h"

static const AldRdmaProblem none = { 0 };

void ald_rdma_problem_clear(AldRdmaProblem *problem)
{
        g_free(problem->reason);
        *problem = none;
}

static bool is(const char *string, const char *value)
{
        return string && strcmp(string, value) == 0;
}

static bool over_infiniband(const AldRdmaPort *port)
{
        return is(port->link_layer, ald_rdma_port_link_layer_to_string(ALD_RDMA_PORT_LINK_LAYER_INFINIBAND));
}

static AldRdmaProblem problem_of(
        const char *word, AldSeverity severity, const char *reason, const char *remedy)
{
        return (AldRdmaProblem){ word, severity, g_strdup(reason), remedy };
}

/* A port without a cable is an everyday sight on cards that have two. */
static AldRdmaProblem down_port(const AldInterface *interface)
{
        if (interface && interface->carrier == 0)
                return problem_of("down", ALD_SEVERITY_NOTICE, "it is down, and its interface has no carrier",
                        "Plug in its cable, or switch on what is at the other end.");
        return problem_of("down", ALD_SEVERITY_NOTICE, "it is down",
                "Check its cable, and bring its network interface up.");
}

static AldRdmaProblem inactive_port(const AldRdmaPort *port, const AldInterface *interface)
{
        if (is(port->state, "down"))
                return down_port(interface);
        if (is(port->state, "init") && over_infiniband(port))
                return problem_of("init", ALD_SEVERITY_WARNING, "it waits for a subnet manager",
                        "Start a subnet manager, such as opensm, on one node of this fabric.");
        if (is(port->state, "armed") && over_infiniband(port))
                return problem_of("armed", ALD_SEVERITY_WARNING, "the subnet manager has not made it active",
                        "Look into the log of the subnet manager.");
        return problem_of("inactive", ALD_SEVERITY_WARNING, "it is not active",
                "Bring its network interface up, and look into the kernel's log.");
}

static AldRdmaProblem without_gids(const AldRdmaPort *port)
{
        return problem_of("no-gid", ALD_SEVERITY_WARNING, "it has no GID",
                over_infiniband(port) ? "Look into the log of the subnet manager."
                                      : "Give its network interface an address, since its GIDs are made of "
                                        "these.");
}

/* What a bridge takes off the wire never comes to a device that is made of software. */
static bool find_bridge(const AldNetwork *network, const AldRdmaPort *port, const AldInterface *interface,
        AldRdmaProblem *ret)
{
        const AldInterface *controller = interface && interface->controller && !port->driver
                                                 ? ald_rows_find(&network->interfaces, interface->controller)
                                                 : NULL;

        if (!controller || !ald_interface_is(controller, ALD_INTERFACE_TYPE_BRIDGE))
                return false;
        *ret = (AldRdmaProblem){
                .word = "bridge",
                .severity = ALD_SEVERITY_WARNING,
                .reason = g_strdup_printf(
                        "its interface %s is a port of the bridge %s, which takes its packets", interface->id,
                        controller->id),
                .remedy = "Make the RDMA device over the bridge, or take its interface out of that.",
        };
        return true;
}

/* What only those find out who use the port: the names that alidade-probe-rdma gives to it. */
static const struct {
        const char *word, *reason, *remedy;
} failures_known[] = {
        { "no-gid", "no GID of it can be used",
                "Give its network interface an address, since its GIDs are made of these." },
        { "no-permission", "probes may not open it",
                "Let the user of alidade-link-probed.service open /dev/infiniband/uverbs*." },
        { "no-provider", "the driver that programs need for it is not installed",
                "Install that driver, as from the package ibverbs-providers." },
        { "memlock", "probes may not lock enough memory for it",
                "Raise LimitMEMLOCK= of alidade-link-probed.service." },
};

/* How alidade-probe-rdma begins what the peer said of itself, which is no matter of our port. */
#define OF_PEER ": the other side: "

/* "no-gid: mlx5_0.1 has …" begins with a word that is known; -1 where it does not. */
static int find_word(const char *failure)
{
        for (size_t i = 0; failure && i < G_N_ELEMENTS(failures_known); i++) {
                size_t n = strlen(failures_known[i].word);

                if (strncmp(failure, failures_known[i].word, n) == 0 && failure[n] == ':')
                        return g_str_has_prefix(failure + n, OF_PEER) ? -1 : (int) i;
        }
        return -1;
}

bool ald_rdma_failure_is_own(const char *failure)
{
        return find_word(failure) >= 0;
}

/* The last attempt, whether it failed or not. */
static uint64_t last_attempt(const AldLinkRdma *row)
{
        uint64_t measured = row->measured_usec == ALD_ABSENT_UINT64 ? 0 : row->measured_usec;

        return row->failed_usec == ALD_ABSENT_UINT64 ? measured : MAX(measured, row->failed_usec);
}

static bool is_failing(const AldLinkRdma *row)
{
        return row->failed_usec != ALD_ABSENT_UINT64 &&
               (row->measured_usec == ALD_ABSENT_UINT64 || row->failed_usec > row->measured_usec);
}

static gboolean is_of_no_matter(gpointer port, gpointer row, gpointer unused)
{
        return !is_failing(row) || find_word(((const AldLinkRdma *) row)->failure) < 0;
}

GHashTable *ald_rdma_failures(AldNode *node)
{
        GHashTable *failures = g_hash_table_new(g_str_hash, g_str_equal);

        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry)) {
                const AldLinkRdma *row = entry->kind == ALD_KIND_LINK_RDMA
                                                 ? ald_record_as(entry->record, LINK_RDMA, AldLinkRdma)
                                                 : NULL;
                const AldLinkRdma *last;

                if (!row || !row->source_port)
                        continue;
                last = g_hash_table_lookup(failures, row->source_port);
                if (!last || last_attempt(row) > last_attempt(last))
                        g_hash_table_replace(failures, (gpointer) row->source_port, (gpointer) row);
        }
        g_hash_table_foreach_remove(failures, is_of_no_matter, NULL);
        return failures;
}

static bool find_failure(GHashTable *failures, const AldRdmaPort *port, AldRdmaProblem *ret)
{
        const AldLinkRdma *row = g_hash_table_lookup(failures, port->id);
        int i = row ? find_word(row->failure) : -1;

        if (i < 0)
                return false;
        *ret = problem_of(failures_known[i].word, ALD_SEVERITY_WARNING, failures_known[i].reason,
                failures_known[i].remedy);
        return true;
}

/* What the node itself tells. */
static bool find_told(const AldNetwork *network, const AldRdmaPort *port, AldRdmaProblem *ret)
{
        const AldInterface *interface = network && port->interface ? ald_rows_find(&network->interfaces,
                                                                             port->interface)
                                                                   : NULL;

        *ret = none;
        if (!port->state)
                return false;
        if (!is(port->state, "active"))
                *ret = inactive_port(port, interface);
        else if (!port->gids)
                *ret = without_gids(port);
        else if (is(port->problem, ald_rdma_port_problem_to_string(ALD_RDMA_PORT_PROBLEM_NO_VERBS)))
                *ret = problem_of("no-verbs", ALD_SEVERITY_WARNING, "the kernel offers it to no program",
                        "Load the kernel module ib_uverbs.");
        else
                return find_bridge(network, port, interface, ret);
        return true;
}

bool ald_rdma_port_is_usable(const AldNetwork *network, const AldRdmaPort *port)
{
        g_auto(AldRdmaProblem) problem = { 0 };

        return ald_rdma_port_is_ready(port) && !find_told(network, port, &problem);
}

bool ald_rdma_problem_find(
        const AldNode *node, const AldRdmaPort *port, GHashTable *failures, AldRdmaProblem *ret)
{
        const AldNetwork *network = ald_record_as(
                ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);

        return find_told(network, port, ret) || (port->state && find_failure(failures, port, ret));
}
