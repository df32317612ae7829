/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/translate.h"
#include "state/link/interface-roles.h"
#include "state/topology/rdma-problem.h"
#include "state/topology/segments.h"

static bool is(const char *string, const char *value)
{
        return string && strcmp(string, value) == 0;
}

static bool is_infiniband(const char *link_layer)
{
        return is(link_layer, ald_rdma_port_link_layer_to_string(ALD_RDMA_PORT_LINK_LAYER_INFINIBAND));
}

/* Many cards have two ports of which one has no cable, so that alone does not deserve a warning. */
static const struct {
        const char *word, *reason, *remedy;
        AldFindingRowSeverity severity;
        bool from_probes; /* alidade-probe-rdma begins its failures with this word */
} problems[] = {
        { "down", N_("it is down"), N_("Check its cable, and bring its network interface up."),
                ALD_FINDING_ROW_SEVERITY_NOTICE, false },
        { "disabled", N_("it is disabled"), N_("Bring its network interface up if it is to be used."),
                ALD_FINDING_ROW_SEVERITY_NOTICE, false },
        { "init", N_("it waits for a subnet manager"),
                N_("Start a subnet manager, such as opensm, on one node of this fabric."),
                ALD_FINDING_ROW_SEVERITY_WARNING, false },
        { "armed", N_("the subnet manager has not activated it"), N_("Check the log of the subnet manager."),
                ALD_FINDING_ROW_SEVERITY_WARNING, false },
        { "inactive", N_("it is not active"), N_("Bring its network interface up, and check the kernel log."),
                ALD_FINDING_ROW_SEVERITY_WARNING, false },
        { "no-gid", N_("it has no usable GID"),
                N_("Give its network interface an address: the GIDs are derived from the addresses."),
                ALD_FINDING_ROW_SEVERITY_WARNING, true },
        { "no-verbs", N_("the kernel does not offer it to programs"), N_("Load the kernel module ib_uverbs."),
                ALD_FINDING_ROW_SEVERITY_WARNING, false },
        { "bridge", NULL,
                N_("Create the RDMA device on the bridge, or remove its interface from the bridge."),
                ALD_FINDING_ROW_SEVERITY_WARNING, false },
        { "no-permission", N_("probes are not permitted to open it"),
                N_("Permit the user of alidade-link-probed.service to open /dev/infiniband/uverbs*."),
                ALD_FINDING_ROW_SEVERITY_WARNING, true },
        { "no-provider", N_("the driver library for it is not installed"),
                N_("Install the library, for example from the package ibverbs-providers."),
                ALD_FINDING_ROW_SEVERITY_WARNING, true },
        { "memlock", N_("probes cannot lock enough memory for it"),
                N_("Raise LimitMEMLOCK= of alidade-link-probed.service."), ALD_FINDING_ROW_SEVERITY_WARNING,
                true },
};

static int find_problem(const char *word)
{
        for (size_t i = 0; i < G_N_ELEMENTS(problems); i++)
                if (is(word, problems[i].word))
                        return (int) i;
        return -1;
}

char *ald_rdma_problem_reason(const AldRdmaProblem *problem)
{
        int i = find_problem(problem->word);

        if (i < 0)
                return NULL;
        if (is(problem->word, "down") && problem->carrier == 0)
                return g_strdup(_("it is down, and its interface has no carrier"));
        if (problems[i].reason)
                return g_strdup(_(problems[i].reason));
        if (!problem->interface || !problem->controller)
                return NULL;
        return g_strdup_printf(_("its interface %s is a port of the bridge %s, which takes its packets"),
                problem->interface, problem->controller);
}

const char *ald_rdma_problem_remedy(const AldRdmaProblem *problem)
{
        int i = find_problem(problem->word);

        if (is(problem->word, "down") && problem->carrier == 0)
                return _("Plug in its cable, or switch on the device at the other end.");
        if (is(problem->word, "disabled") && is_infiniband(problem->link_layer))
                return _("Enable it if it is to be used, for example with ibportstate.");
        if (is(problem->word, "no-gid") && is_infiniband(problem->link_layer))
                return _("Check the log of the subnet manager.");
        return i < 0 ? NULL : _(problems[i].remedy);
}

static AldRdmaProblem problem_of(const char *word, const AldRdmaPort *port)
{
        return (AldRdmaProblem){ .word = problems[find_problem(word)].word,
                .severity = problems[find_problem(word)].severity,
                .link_layer = port->link_layer,
                .interface = port->interface,
                .carrier = ALD_ABSENT_BOOLEAN };
}

/* The driver of an Ethernet adapter reports the physical state "disabled" without a cable, too. */
static bool is_disabled(const AldRdmaPort *port, const AldInterface *interface)
{
        if (is_infiniband(port->link_layer))
                return is(port->physical_state, "disabled");
        if (interface && interface->enabled != ALD_ABSENT_BOOLEAN)
                return interface->enabled == 0;
        return is(port->physical_state, "disabled") &&
               (!interface || interface->carrier == ALD_ABSENT_BOOLEAN);
}

static AldRdmaProblem problem_of_inactive_port(const AldRdmaPort *port, const AldInterface *interface)
{
        AldRdmaProblem problem;

        if (is(port->state, "down") && is_disabled(port, interface))
                return problem_of("disabled", port);
        if (is(port->state, "down")) {
                problem = problem_of("down", port);
                problem.carrier = interface ? interface->carrier : ALD_ABSENT_BOOLEAN;
                return problem;
        }
        if ((is(port->state, "init") || is(port->state, "armed")) && is_infiniband(port->link_layer))
                return problem_of(port->state, port);
        return problem_of("inactive", port);
}

/* Packets that a bridge takes from the interface never reach an RDMA device implemented in software. */
static bool find_bridge(const AldNetwork *network, const AldRdmaPort *port, const AldInterface *interface,
        AldRdmaProblem *ret)
{
        const AldInterface *controller = interface && interface->controller && !port->driver
                                                 ? ald_rows_find(&network->interfaces, interface->controller)
                                                 : NULL;

        if (!controller || !ald_interface_is(controller, ALD_INTERFACE_TYPE_BRIDGE))
                return false;
        *ret = problem_of("bridge", port);
        ret->controller = controller->id;
        return true;
}

/* The text with which alidade-probe-rdma begins a failure of the peer, which says nothing about our port. */
#define OF_PEER ": the other side: "

/* Returns the known word with which a failure such as "no-gid: mlx5_0.1 has …" begins, or NULL. */
static const char *known_word(const char *failure)
{
        for (size_t i = 0; failure && i < G_N_ELEMENTS(problems); i++) {
                size_t n = strlen(problems[i].word);

                if (problems[i].from_probes && strncmp(failure, problems[i].word, n) == 0 &&
                        failure[n] == ':')
                        return g_str_has_prefix(failure + n, OF_PEER) ? NULL : problems[i].word;
        }
        return NULL;
}

bool ald_rdma_failure_is_own(const char *failure)
{
        return known_word(failure) != NULL;
}

/* Returns the time of the last attempt, whether it failed or not. */
static uint64_t last_attempt(const AldLinkRdma *row)
{
        uint64_t measured = row->measured_usec == ALD_ABSENT_UINT64 ? 0 : row->measured_usec;

        return row->failed_usec == ALD_ABSENT_UINT64 ? measured : MAX(measured, row->failed_usec);
}

static gboolean is_irrelevant(gpointer port, gpointer row, gpointer unused)
{
        const AldLinkRdma *link = row;
        bool failing = link->failed_usec != ALD_ABSENT_UINT64 &&
                       (link->measured_usec == ALD_ABSENT_UINT64 || link->failed_usec > link->measured_usec);

        return !failing || !known_word(link->failure);
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
        g_hash_table_foreach_remove(failures, is_irrelevant, NULL);
        return failures;
}

bool ald_rdma_problem_find_reported(const AldNetwork *network, const AldRdmaPort *port, AldRdmaProblem *ret)
{
        const AldInterface *interface = network && port->interface ? ald_rows_find(&network->interfaces,
                                                                             port->interface)
                                                                   : NULL;

        if (!port->state)
                return false;
        if (!is(port->state, "active"))
                *ret = problem_of_inactive_port(port, interface);
        else if (!port->gids)
                *ret = problem_of("no-gid", port);
        else if (is(port->problem, ald_rdma_port_problem_to_string(ALD_RDMA_PORT_PROBLEM_NO_VERBS)))
                *ret = problem_of("no-verbs", port);
        else
                return find_bridge(network, port, interface, ret);
        return true;
}

bool ald_rdma_port_is_usable(const AldNetwork *network, const AldRdmaPort *port)
{
        AldRdmaProblem problem;

        return ald_rdma_port_is_ready(port) && !ald_rdma_problem_find_reported(network, port, &problem);
}

bool ald_rdma_problem_find(
        const AldNode *node, const AldRdmaPort *port, GHashTable *failures, AldRdmaProblem *ret)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        const AldLinkRdma *row;
        const char *word;

        if (ald_rdma_problem_find_reported(network, port, ret))
                return true;
        row = port->state ? g_hash_table_lookup(failures, port->id) : NULL;
        word = row ? known_word(row->failure) : NULL;
        if (!word)
                return false;
        *ret = problem_of(word, port);
        return true;
}
