/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/units.h"
#include "state/findings-report.h"

/* How nodes are heard of: clocks that differ, ids that two machines use, nodes that are gone. */

#define SKEW_USEC (INT64_C(5) * G_USEC_PER_SEC)

/* From so many nodes on, most of them are right about the time rather than this one. */
#define MAJORITY_OF 3u

/* More nodes than this are counted instead of named. */
#define NAMED_MAX 8u

typedef struct Clocks {
        AldReport *report;
        GArray *skewed;  /* of Skew */
        GArray *unknown; /* ids of nodes */
        guint n_known;
} Clocks;

typedef struct Skew {
        AldId node;
        int64_t offset;
} Skew;

static bool is_state(const AldPresence *presence, AldPresenceState state)
{
        return presence->state && strcmp(presence->state, ald_presence_state_to_string(state)) == 0;
}

/* NULL where it is unknown, or in the future because the clock was set meanwhile. A duration would be wrong
 * soon after the text was made. */
static char *format_since(uint64_t usec, uint64_t now)
{
        g_autoptr(GDateTime)
                time = usec <= now ? g_date_time_new_from_unix_utc((int64_t) (usec / G_USEC_PER_SEC)) : NULL;

        return time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S UTC") : NULL;
}

static void find_offline(AldReport *report, const AldNode *node, const AldPresence *presence)
{
        g_autofree char *name = NULL, *id = NULL, *since = NULL;

        if (!is_state(presence, ALD_PRESENCE_STATE_OFFLINE) || ald_report_full(report, "node-offline"))
                return;
        name = ald_report_name(report, &node->id);
        id = ald_report_short_id(&node->id);
        since = format_since(presence->since_usec, report->now_realtime);
        ald_report_add(report, ALD_SEVERITY_NOTICE, "node-offline", &node->id, 1,
                g_strdup_printf(since ? "%s has been offline since %s." : "%s is offline.", name, since),
                g_strdup_printf("Start it again, or forget it: alidadectl forget %s.", id));
}

static void find_duplicate(AldReport *report, const AldNode *node, const AldPresence *presence)
{
        g_autofree char *name = NULL;

        if (!is_state(presence, ALD_PRESENCE_STATE_DUPLICATE) || ald_report_full(report, "duplicate-node-id"))
                return;
        name = ald_report_name(report, &node->id);
        ald_report_add(report, ALD_SEVERITY_ERROR, "duplicate-node-id", &node->id, 1,
                g_strdup_printf("Two machines use the node id of %s; neither is shown as it is now.", name),
                g_strdup("On the copy remove /etc/machine-id, run systemd-machine-id-setup, reboot and join "
                         "the cluster again; then restart alidade-clusterd on both."));
}

static void find_behind(AldReport *report, const AldNode *node)
{
        g_autofree char *name = NULL, *id = NULL;

        if (!ald_node_is_online(node) || !ald_node_is_behind(node) ||
                ald_report_full(report, "node-records-old"))
                return;
        name = ald_report_name(report, &node->id);
        id = ald_report_short_id(&node->id);
        ald_report_add(report, ALD_SEVERITY_WARNING, "node-records-old", &node->id, 1,
                g_strdup_printf("%s is online, but its records are older than known, so what is shown of it "
                                "stands still.",
                        name),
                g_strdup_printf("Check the clock of %s. If it is right, stop alidade-clusterd there, run "
                                "alidadectl forget %s here, and start it again.",
                        name, id));
}

/* Of this machine itself: without a broker it hears of nobody. */
static void find_brokerless(AldReport *report, const AldNode *node, const AldPresence *presence)
{
        const AldMembership *membership = ald_record_as(
                ald_node_record(node, ALD_KIND_MEMBERSHIP), MEMBERSHIP, AldMembership);
        const char *cluster = membership ? membership->cluster_name : NULL;

        if (!is_state(presence, ALD_PRESENCE_STATE_STALE) || ald_report_full(report, "no-broker"))
                return;
        ald_report_add(report, ALD_SEVERITY_ERROR, "no-broker", &node->id, 1,
                g_strdup_printf("This machine reaches no broker of %s%s; what is shown of others is old.",
                        cluster ? "cluster " : "its cluster", cluster ?: ""),
                g_strdup("See why with alidadectl cluster status; check that the broker runs and that the "
                         "network leads to it."));
}

/* The time of an unset clock is that of 1970. */
static void find_unset_clock(AldReport *report, const AldNode *local)
{
        g_autofree char *name = NULL;

        if (report->clock_is_set || ald_report_full(report, "clock-not-set"))
                return;
        name = ald_report_name(report, &local->id);
        ald_report_add(report, ALD_SEVERITY_ERROR, "clock-not-set", &local->id, 1,
                g_strdup_printf(
                        "The clock of this machine, %s, is not set; records of others that it makes look too "
                        "new wait until it is.",
                        name),
                g_strdup("Let a time service such as systemd-timesyncd or chrony set the clock."));
}

static gboolean find_in_node(AldNode *node, void *userdata)
{
        Clocks *clocks = userdata;
        const AldPresence *presence = ald_record_as(
                ald_node_record(node, ALD_KIND_PRESENCE), PRESENCE, AldPresence);
        int64_t offset = presence ? presence->clock_offset_usec : ALD_ABSENT_INT64;

        if (!presence)
                return FALSE;
        find_duplicate(clocks->report, node, presence);
        if (node->local) {
                find_brokerless(clocks->report, node, presence);
                return FALSE;
        }
        find_offline(clocks->report, node, presence);
        find_behind(clocks->report, node);
        if (is_state(presence, ALD_PRESENCE_STATE_UNKNOWN))
                g_array_append_val(clocks->unknown, node->id);
        if (offset == ALD_ABSENT_INT64 || !ald_node_counts(node))
                return FALSE;
        clocks->n_known++;
        if (offset > SKEW_USEC || offset < -SKEW_USEC) {
                const Skew skew = { node->id, offset };

                g_array_append_val(clocks->skewed, skew);
        }
        return FALSE;
}

static void add_skew(AldReport *report, const AldId *node, int64_t offset, const char *others)
{
        g_autofree char *name = NULL, *duration = NULL;

        if (ald_report_full(report, "clock-skew"))
                return;
        name = ald_report_name(report, node);
        duration = ald_units_duration((uint64_t) (offset < 0 ? -offset : offset));
        ald_report_add(report, ALD_SEVERITY_WARNING, "clock-skew", node, 1,
                g_strdup_printf("The clock of %s is %s %s %s.", name, duration,
                        offset < 0 ? "behind" : "ahead of", others),
                g_strdup_printf(
                        "Let a time service such as systemd-timesyncd or chrony set the clock of %s.", name));
}

static int compare_skews(gconstpointer a, gconstpointer b)
{
        int64_t left = ((const Skew *) a)->offset, right = ((const Skew *) b)->offset;

        return (left > right) - (left < right);
}

/* The one in the middle, seen from the others. */
static int64_t own_offset(GArray *skewed)
{
        g_array_sort(skewed, compare_skews);
        return -g_array_index(skewed, Skew, skewed->len / 2).offset;
}

/* All of them in one, since one thing is missing. */
static void add_unknown(AldReport *report, GArray *unknown)
{
        const AldId *ids = (const AldId *) (void *) unknown->data;
        g_autofree char *names = NULL;

        if (unknown->len == 0 || ald_report_full(report, "nodes-unknown"))
                return;
        names = ald_report_names(report, ids, unknown->len, NAMED_MAX);
        ald_report_add(report, ALD_SEVERITY_WARNING, "nodes-unknown", ids, unknown->len,
                g_strdup_printf("Whether %s %s online has been unknown since the cluster service of this "
                                "machine stopped.",
                        names, unknown->len == 1 ? "is" : "are"),
                g_strdup("Look at alidade-clusterd on this machine: systemctl status alidade-clusterd."));
}

void ald_find_in_presences(AldReport *report)
{
        const AldNode *local = ald_store_local_node(report->store);
        g_autoptr(GArray) skewed = g_array_new(FALSE, FALSE, sizeof(Skew));
        g_autoptr(GArray) unknown = g_array_new(FALSE, FALSE, sizeof(AldId));
        g_autofree char *here = ald_report_name(report, &local->id);
        g_autofree char *own = g_strdup_printf("that of %s", here);
        Clocks clocks = { .report = report, .skewed = skewed, .unknown = unknown };

        ald_store_foreach_node(report->store, find_in_node, &clocks);
        add_unknown(report, unknown);
        find_unset_clock(report, local);
        if (clocks.n_known >= MAJORITY_OF && skewed->len * 2 > clocks.n_known) {
                add_skew(report, &local->id, own_offset(skewed), "those of most nodes");
                return;
        }
        for (guint i = 0; i < skewed->len; i++) {
                const Skew *skew = &g_array_index(skewed, Skew, i);

                add_skew(report, &skew->node, skew->offset, own);
        }
}
