/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"
#include "state/link/interface-roles.h"

/* Finds what presences show: clocks that differ, ids that two machines use, nodes that are gone. */

#define SKEW_USEC (INT64_C(5) * G_USEC_PER_SEC)

typedef struct Clocks {
        AldReport *report;
        GArray *known;   /* of KnownClock, including this node's */
        GArray *unknown; /* ids of nodes whose presence is unknown */
} Clocks;

typedef struct KnownClock {
        AldId node;
        int64_t offset; /* relative to the clock of this node */
} KnownClock;

static bool has_state(const AldPresence *presence, AldPresenceState state)
{
        return presence->state && strcmp(presence->state, ald_presence_state_to_string(state)) == 0;
}

/* Adds a finding without arguments, which this service concludes itself. */
static void add_bare_finding(
        AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id, const AldNode *node)
{
        if (!ald_report_full(report, severity, id, NULL, &node->id, 1))
                ald_report_add(report, severity, id, NULL, &node->id, 1, NULL);
}

static void find_offline(AldReport *report, const AldNode *node, const AldPresence *presence)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!has_state(presence, ALD_PRESENCE_STATE_OFFLINE) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_NODE_OFFLINE,
                        NULL, &node->id, 1))
                return;
        /* The time is in the future if the clock was set meanwhile. */
        if (presence->since_usec <= report->context.real)
                row.since_usec = presence->since_usec;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_NODE_OFFLINE, NULL,
                &node->id, 1, &row);
}

/* This is reported for this machine only: without a broker it does not receive anything from others. */
static void find_brokerless(AldReport *report, const AldNode *node, const AldPresence *presence)
{
        const AldMembership *membership = ald_node_as(node, MEMBERSHIP, AldMembership);
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!has_state(presence, ALD_PRESENCE_STATE_STALE) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_ERROR, ALD_FINDING_ROW_ID_NO_BROKER, NULL,
                        &node->id, 1))
                return;
        row.cluster_name = membership ? membership->cluster_name : NULL;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_ERROR, ALD_FINDING_ROW_ID_NO_BROKER, NULL, &node->id,
                1, &row);
}

/* Returns whether no interface leads out for lack of a carrier. A machine without interfaces was never
 * connected. */
static bool is_cut_off(const AldNetwork *network)
{
        bool physical = ald_network_has_physical(network), found = false;

        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                if (ald_network_leads_out(network, interface, physical))
                        return false;
                found |= interface->carrier == 0;
        }
        return found;
}

/* Without this finding, only the other nodes would be reported as offline. */
static void find_cut_off(AldReport *report, const AldNode *local)
{
        const AldNetwork *network = ald_node_as(local, NETWORK, AldNetwork);

        if (network && ald_store_n_nodes(report->store) > 1 && is_cut_off(network) &&
                !ald_report_full(report, ALD_FINDING_ROW_SEVERITY_ERROR, ALD_FINDING_ROW_ID_NODE_CUT_OFF,
                        &local->id, &local->id, 1))
                ald_report_add(report, ALD_FINDING_ROW_SEVERITY_ERROR, ALD_FINDING_ROW_ID_NODE_CUT_OFF,
                        &local->id, &local->id, 1, NULL);
}

static gboolean find_in_node(AldNode *node, void *userdata)
{
        Clocks *clocks = userdata;
        const AldPresence *presence = ald_node_as(node, PRESENCE, AldPresence);
        int64_t offset = presence ? presence->clock_offset_usec : ALD_ABSENT_INT64;

        if (!presence)
                return FALSE;
        if (has_state(presence, ALD_PRESENCE_STATE_DUPLICATE))
                add_bare_finding(clocks->report, ALD_FINDING_ROW_SEVERITY_ERROR,
                        ALD_FINDING_ROW_ID_DUPLICATE_NODE_ID, node);
        if (node->local) {
                find_brokerless(clocks->report, node, presence);
                return FALSE;
        }
        find_offline(clocks->report, node, presence);
        if (ald_node_is_online(node) && ald_node_is_behind(node))
                add_bare_finding(clocks->report, ALD_FINDING_ROW_SEVERITY_WARNING,
                        ALD_FINDING_ROW_ID_NODE_RECORDS_OLD, node);
        if (has_state(presence, ALD_PRESENCE_STATE_UNKNOWN))
                g_array_append_val(clocks->unknown, node->id);
        if (offset == ALD_ABSENT_INT64 || !ald_node_counts(node))
                return FALSE;
        g_array_append_val(clocks->known, ((const KnownClock){ node->id, offset }));
        return FALSE;
}

/* The reference is the name of a node, or NULL for the clocks of most nodes. */
static void add_skew(AldReport *report, const AldId *node, int64_t offset, const char *reference)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (ald_report_full(
                    report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_CLOCK_SKEW, NULL, node, 1))
                return;
        row.clock_offset_usec = offset;
        row.reference_name = reference;
        ald_report_add(
                report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_CLOCK_SKEW, NULL, node, 1, &row);
}

/* It is unknown which of the two clocks is right. */
static void add_difference(AldReport *report, const AldId *local, const KnownClock *other)
{
        const AldId nodes[2] = { *local, other->node };
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (ald_report_full(
                    report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_CLOCK_SKEW, NULL, nodes, 2))
                return;
        row.clock_offset_usec = other->offset;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_CLOCK_SKEW, NULL, nodes,
                2, &row);
}

static int compare_clocks(gconstpointer a, gconstpointer b)
{
        int64_t left = ((const KnownClock *) a)->offset, right = ((const KnownClock *) b)->offset;

        return (left > right) - (left < right);
}

static const KnownClock *clock_at(const GArray *clocks, guint i)
{
        return &g_array_index(clocks, KnownClock, i);
}

/* Returns true if the clock of this node is among these, which are sorted. */
static bool includes_own(const GArray *clocks, guint first, guint last)
{
        return clock_at(clocks, first)->offset <= 0 && clock_at(clocks, last)->offset >= 0;
}

/* Sorts the clocks and finds the largest group that agrees with each other, preferably one with this node's
 * clock. Returns its first index; *ret_n is its size. */
static guint find_agreeing(GArray *clocks, guint *ret_n)
{
        guint first = 0, most = 0;

        g_array_sort(clocks, compare_clocks);
        for (guint low = 0, high = 0; high < clocks->len; high++) {
                while (clock_at(clocks, high)->offset - clock_at(clocks, low)->offset > SKEW_USEC)
                        low++;
                if (high - low + 1 > most || (high - low + 1 == most && includes_own(clocks, low, high))) {
                        most = high - low + 1;
                        first = low;
                }
        }
        *ret_n = most;
        return first;
}

/* Judges clocks by this node's clock, or by the median of the majority if this node's clock does not agree
 * with it. Without a majority, only the differences are reported. */
static void find_skews(AldReport *report, GArray *clocks)
{
        const AldId *local = &ald_store_local_node(report->store)->id;
        guint n, first = find_agreeing(clocks, &n);
        int64_t median = clock_at(clocks, first + n / 2)->offset;
        g_autofree char *here = ald_report_name(report, local);
        bool majority = 2 * n > clocks->len, own_is_right = includes_own(clocks, first, first + n - 1);

        for (guint i = 0; i < clocks->len; i++) {
                const KnownClock *clock = clock_at(clocks, i);
                int64_t offset = majority && !own_is_right ? clock->offset - median : clock->offset;

                if (offset <= SKEW_USEC && offset >= -SKEW_USEC)
                        continue;
                if (majority)
                        add_skew(report, &clock->node, offset, own_is_right ? here : NULL);
                else
                        add_difference(report, local, clock);
        }
}

/* Adds a single finding for all these nodes, since it has a single cause. */
static void add_unknown(AldReport *report, GArray *unknown)
{
        const AldId *nodes = (const AldId *) (void *) unknown->data;

        if (unknown->len > 0 && !ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                                        ALD_FINDING_ROW_ID_NODES_UNKNOWN, NULL, nodes, unknown->len))
                ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_NODES_UNKNOWN,
                        NULL, nodes, unknown->len, NULL);
}

void ald_find_in_presences(AldReport *report)
{
        const AldNode *local = ald_store_local_node(report->store);
        g_autoptr(GArray) known = g_array_new(FALSE, FALSE, sizeof(KnownClock));
        g_autoptr(GArray) unknown = g_array_new(FALSE, FALSE, sizeof(AldId));
        Clocks clocks = { .report = report, .known = known, .unknown = unknown };

        g_array_append_val(known, ((const KnownClock){ local->id, 0 }));
        ald_store_foreach_node(report->store, find_in_node, &clocks);
        add_unknown(report, unknown);
        find_cut_off(report, local);
        if (!report->context.clock_is_set)
                add_bare_finding(
                        report, ALD_FINDING_ROW_SEVERITY_ERROR, ALD_FINDING_ROW_ID_CLOCK_NOT_SET, local);
        find_skews(report, known);
}
