/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alert-causes.h"

#define ID(NAME) ALD_FINDING_ROW_ID_##NAME

/* The things that cause and effect have in common. */
typedef enum Share {
        NOTHING,
        NODE,      /* they share a node */
        DEVICE,    /* they share a node and its compute device */
        PORT,      /* they share a node and its RDMA port */
        INTERFACE, /* they share a node and the network interface that carries the link */
        LINK,      /* both nodes, and the path between them */
        PAIR,      /* both nodes, in any order */
} Share;

static const struct {
        AldFindingRowId cause;
        bool expired; /* only if it is about a certificate that has expired */
        AldFindingRowId effect;
        Share share;
} rules[] = {
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), true, ID(BRIDGE_CERTIFICATE_EXPIRES), NOTHING },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), true, ID(BROKER_CERTIFICATE_EXPIRES), NOTHING },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), true, ID(CERTIFICATE_EXPIRES), NOTHING },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), true, ID(NO_BROKER), NOTHING },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), true, ID(NODE_OFFLINE), NOTHING },
        { ID(BROKER_CERTIFICATE_EXPIRES), true, ID(NO_BROKER), NOTHING },
        { ID(CERTIFICATE_EXPIRES), true, ID(NO_BROKER), NODE },
        { ID(CERTIFICATE_EXPIRES), true, ID(NODE_OFFLINE), NODE },
        { ID(CLOCK_NOT_SET), false, ID(CLOCK_SKEW), NOTHING },
        { ID(CLOCK_NOT_SET), false, ID(NO_BROKER), NODE },
        { ID(CLOCK_NOT_SET), false, ID(NODE_RECORDS_OLD), NOTHING },
        { ID(CLOCK_SKEW), false, ID(NODE_RECORDS_OLD), NODE },
        { ID(DEVICE_LANES_MISSING), false, ID(SLOWER_THAN_PAST), DEVICE },
        { ID(DEVICE_LINK_SLOW), false, ID(SLOWER_THAN_PAST), DEVICE },
        { ID(DEVICE_WITHOUT_DRIVER), false, ID(DEVICE_NEVER_FREE), DEVICE },
        { ID(DUPLICATE_NODE_ID), false, ID(HARDWARE_CLAIMED_TWICE), NODE },
        { ID(DUPLICATE_NODE_ID), false, ID(NODE_OFFLINE), NODE },
        { ID(DUPLICATE_NODE_ID), false, ID(NODE_RECORDS_OLD), NODE },
        { ID(INTERFACE_SLOW), false, ID(LINK_RATE_CHANGED), INTERFACE },
        { ID(INTERFACE_SLOW), false, ID(SLOWER_THAN_PAST), INTERFACE },
        { ID(LINK_BELOW_NEGOTIATED), false, ID(LINK_ASYMMETRIC), PAIR },
        { ID(LINK_BELOW_NEGOTIATED), false, ID(LINK_UNSTEADY), PAIR },
        { ID(LINK_BELOW_NEGOTIATED), false, ID(SLOWER_THAN_PAST), LINK },
        { ID(LINK_PROBE_FAILING), false, ID(LINK_ASYMMETRIC), PAIR },
        { ID(LINK_PROBE_FAILING), false, ID(LINK_BELOW_NEGOTIATED), LINK },
        { ID(LINK_PROBE_FAILING), false, ID(LINK_PARTLY_MEASURED), LINK },
        { ID(LINK_PROBE_FAILING), false, ID(LINK_RATE_CHANGED), LINK },
        { ID(LINK_PROBE_FAILING), false, ID(LINK_UNSTEADY), LINK },
        { ID(LINK_PROBE_FAILING), false, ID(SLOWER_THAN_PAST), LINK },
        { ID(NO_BROKER), false, ID(NODE_OFFLINE), NOTHING },
        { ID(NO_BROKER), false, ID(NODES_UNKNOWN), NOTHING },
        { ID(NODE_CUT_OFF), false, ID(LINK_PROBE_FAILING), NODE },
        { ID(NODE_CUT_OFF), false, ID(NO_BROKER), NOTHING },
        { ID(NODE_CUT_OFF), false, ID(NODE_OFFLINE), NOTHING },
        { ID(NODE_CUT_OFF), false, ID(NODES_UNKNOWN), NOTHING },
        { ID(RDMA_UNUSABLE), false, ID(LINK_ASYMMETRIC), PORT },
        { ID(RDMA_UNUSABLE), false, ID(LINK_BELOW_NEGOTIATED), PORT },
        { ID(RDMA_UNUSABLE), false, ID(LINK_PARTLY_MEASURED), PORT },
        { ID(RDMA_UNUSABLE), false, ID(LINK_PROBE_FAILING), PORT },
        { ID(RDMA_UNUSABLE), false, ID(LINK_UNSTEADY), PORT },
        { ID(RDMA_UNUSABLE), false, ID(SLOWER_THAN_PAST), PORT },
};

/* Returns whether this is found only for nodes that are heard: for one that is not, it is not over either.
 * The compiler warns of a new Id until it is listed here. */
static bool needs_heard_nodes(AldFindingRowId id)
{
        switch (id) {
        case ID(CLOCK_SKEW):
        case ID(CONFIGURATION_REFUSED):
        case ID(DEVICE_LANES_MISSING):
        case ID(DEVICE_LINK_SLOW):
        case ID(DEVICE_NEVER_FREE):
        case ID(DEVICE_RATE_IMPLAUSIBLE):
        case ID(DEVICE_SLOT_NARROW):
        case ID(DEVICE_WITHOUT_DRIVER):
        case ID(DISK_NEARLY_FULL):
        case ID(INTERFACE_LINKS_AFFECTED):
        case ID(INTERFACE_SLOW):
        case ID(LINK_ASYMMETRIC):
        case ID(LINK_BELOW_NEGOTIATED):
        case ID(LINK_PARTLY_MEASURED):
        case ID(LINK_PROBE_FAILING):
        case ID(LINK_RATE_CHANGED):
        case ID(LINK_UNSTEADY):
        case ID(MEMORY_PRESSURE):
        case ID(NODE_RECORDS_OLD):
        case ID(OPENCL_MISSING):
        case ID(RDMA_UNUSABLE):
        case ID(SERVICE_SILENT):
        case ID(SLOWER_THAN_PAST):
        case ID(SWAP_NEARLY_FULL):
                return true;
        case ID(AUTHORITY_CERTIFICATE_EXPIRES):
        case ID(BRIDGE_CERTIFICATE_EXPIRES):
        case ID(BRIDGE_LOOP):
        case ID(BROKER_CERTIFICATE_EXPIRES):
        case ID(BROKER_REFUSES_NODE):
        case ID(CERTIFICATE_EXPIRES):
        case ID(CLOCK_NOT_SET):
        case ID(DEVICE_DRIVERS_DIFFER):
        case ID(DUPLICATE_NODE_ID):
        case ID(FIELD_ABSENT):
        case ID(FRIENDLY_NAME_SHARED):
        case ID(HARDWARE_CLAIMED_TWICE):
        case ID(HISTORY_NOT_WRITTEN):
        case ID(NO_BROKER):
        case ID(NODE_CUT_OFF):
        case ID(NODE_OFFLINE):
        case ID(NODES_UNKNOWN):
        case ID(OS_VERSIONS_DIFFER):
        case ID(SWITCH_LINKS_AFFECTED):
        case ID(SWITCH_NODES_OFFLINE):
        case ID(UPLINK_LINKS_AFFECTED):
        case ID(VERSIONS_DIFFER):
                return false;
        case ALD_FINDING_ROW_ID_N:
                break;
        }
        g_assert_not_reached();
}

static const AldFindingRowId unheard[] = { ID(NODE_OFFLINE), ID(NODES_UNKNOWN), ID(DUPLICATE_NODE_ID) };

struct AldAlertCauses {
        AldAlertPaths *paths;
        GHashTable *by_mark; /* Id and the fields that rules compare → row */
};

static size_t n_nodes(const AldFindingRow *row)
{
        return row->nodes ? g_strv_length((char **) row->nodes) : 0;
}

static char *pair_mark(int id, const AldFindingRow *row)
{
        const char *a, *b;

        if (n_nodes(row) != 2)
                return NULL;
        a = row->nodes[0];
        b = row->nodes[1];
        return strcmp(a, b) < 0 ? g_strdup_printf("%d pair %s %s", id, a, b)
                                : g_strdup_printf("%d pair %s %s", id, b, a);
}

static char *link_mark(int id, const AldFindingRow *row)
{
        const char *to = row->port ? row->sink_port : row->address;

        return n_nodes(row) == 2 ? g_strdup_printf("%d link %s %s %s %s", id, row->nodes[0], row->nodes[1],
                                           row->port ?: "", to ?: "")
                                 : NULL;
}

/* Adds a mark, of which it takes ownership. */
static void add_mark(AldAlertCauses *causes, char *text, const AldFindingRow *row)
{
        if (text)
                g_hash_table_insert(causes->by_mark, text, (gpointer) row);
}

static void add_marks(AldAlertCauses *causes, int id, const AldFindingRow *row)
{
        add_mark(causes, g_strdup_printf("%d", id), row);
        add_mark(causes, pair_mark(id, row), row);
        add_mark(causes, link_mark(id, row), row);
        for (size_t i = 0; i < n_nodes(row); i++) {
                add_mark(causes, g_strdup_printf("%d node %s", id, row->nodes[i]), row);
                if (row->device)
                        add_mark(causes, g_strdup_printf("%d device %s %s", id, row->nodes[i], row->device),
                                row);
                if (row->port)
                        add_mark(causes, g_strdup_printf("%d port %s %s", id, row->nodes[i], row->port), row);
                if (row->interface && n_nodes(row) == 1)
                        add_mark(causes,
                                g_strdup_printf("%d interface %s %s", id, row->nodes[i], row->interface),
                                row);
                if (row->remaining_usec == 0)
                        add_mark(causes, g_strdup_printf("%d expired %s", id, row->nodes[i]), row);
        }
        if (row->remaining_usec == 0)
                add_mark(causes, g_strdup_printf("%d expired", id), row);
}

AldAlertCauses *ald_alert_causes_new(const GPtrArray *findings, AldAlertPaths *paths)
{
        AldAlertCauses *causes = g_new(AldAlertCauses, 1);

        causes->paths = paths;
        causes->by_mark = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];
                int id = ald_finding_row_id_from_string(row->id);

                if (id >= 0 && row->left_out == ALD_ABSENT_UINT64)
                        add_marks(causes, id, row);
        }
        return causes;
}

void ald_alert_causes_free(AldAlertCauses *causes)
{
        g_hash_table_unref(causes->by_mark);
        g_free(causes);
}

/* Finds the row of a mark, and frees the mark. */
static const AldFindingRow *find_marked(const AldAlertCauses *causes, char *text)
{
        const AldFindingRow *row = text ? g_hash_table_lookup(causes->by_mark, text) : NULL;

        g_free(text);
        return row;
}

static const AldFindingRow *find_marked_by_node(
        const AldAlertCauses *causes, int id, const char *what, const AldFindingRow *row)
{
        for (size_t i = 0; i < n_nodes(row); i++) {
                const AldFindingRow *cause = find_marked(
                        causes, g_strdup_printf("%d %s %s", id, what, row->nodes[i]));

                if (cause)
                        return cause;
        }
        return NULL;
}

/* The first node of a link has the port, the second one has the port of the sink. */
static const AldFindingRow *find_marked_by_port(
        const AldAlertCauses *causes, int id, const AldFindingRow *row)
{
        const char *ports[2] = { row->port, row->sink_port };

        for (size_t i = 0; i < MIN(n_nodes(row), 2); i++) {
                const AldFindingRow *cause = ports[i] ? find_marked(
                                                                causes, g_strdup_printf("%d port %s %s", id,
                                                                                row->nodes[i], ports[i]))
                                                      : NULL;

                if (cause)
                        return cause;
        }
        return NULL;
}

static const AldFindingRow *find_marked_by_interface(
        const AldAlertCauses *causes, int id, const AldFindingRow *row)
{
        const AldFindingRow *cause = NULL;

        for (unsigned i = 0; causes->paths && !cause && i < MIN(n_nodes(row), 2); i++) {
                const char *port = ald_alert_paths_port(causes->paths, row, i);

                if (port)
                        cause = find_marked(
                                causes, g_strdup_printf("%d interface %s %s", id, row->nodes[i], port));
        }
        return cause;
}

static const AldFindingRow *apply_rule(const AldAlertCauses *causes, size_t rule, const AldFindingRow *row)
{
        int id = (int) rules[rule].cause;
        bool expired = rules[rule].expired;

        switch (rules[rule].share) {
        case NOTHING:
                return find_marked(causes, g_strdup_printf(expired ? "%d expired" : "%d", id));
        case NODE:
                return find_marked_by_node(causes, id, expired ? "expired" : "node", row);
        case DEVICE:
                return n_nodes(row) == 1 && row->device
                               ? find_marked(causes,
                                         g_strdup_printf("%d device %s %s", id, row->nodes[0], row->device))
                               : NULL;
        case PORT:
                return find_marked_by_port(causes, id, row);
        case INTERFACE:
                return find_marked_by_interface(causes, id, row);
        case LINK:
                return find_marked(causes, link_mark(id, row));
        case PAIR:
                return find_marked(causes, pair_mark(id, row));
        }
        g_assert_not_reached();
}

static const AldFindingRow *find_unheard(const AldAlertCauses *causes, int id, const AldFindingRow *row)
{
        for (size_t i = 0; id >= 0 && needs_heard_nodes((AldFindingRowId) id) && i < G_N_ELEMENTS(unheard);
                i++) {
                const AldFindingRow *cause = find_marked_by_node(causes, (int) unheard[i], "node", row);

                if (cause)
                        return cause;
        }
        return NULL;
}

const AldFindingRow *ald_alert_causes_find(const AldAlertCauses *causes, const AldFindingRow *row)
{
        int id = ald_finding_row_id_from_string(row->id);
        const AldFindingRow *cause = find_unheard(causes, id, row);

        for (size_t i = 0; !cause && i < G_N_ELEMENTS(rules); i++)
                if ((int) rules[i].effect == id)
                        cause = apply_rule(causes, i, row);
        return cause || !causes->paths ? cause : ald_alert_paths_cause(causes->paths, row);
}
