/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "state/link/interface-roles.h"
#include "state/planner/planner-private.h"

/* Chooses which of the due probes are started, by what they may send and what else runs. */

/* An interface with traffic above a tenth of its capacity is not probed. */
#define BUSY_SHARE 10u

/* If several are to be repeated, one may be measured before another that is due earlier by up to this share
 * of its time to live: waiting for that one, whose other end may be busy, would take longer. */
#define SLACK_SHARE 8u

/* Few measurements fit into an hour, so the share may be exceeded by this; otherwise much of it would be
 * unused. */
#define HOUR_SHARE 1.1

static const AldInterface *carrier_of(const AldNode *node, const AldInterface *interface)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        return interface && network ? ald_network_find_carrier(network, interface) : NULL;
}

AldShare ald_planner_share(const AldPlanner *planner, const AldNode *node, const AldInterface *interface)
{
        uint64_t bytes = node == planner->node ? planner->input->bytes_per_hour : 0;

        if (bytes == 0)
                bytes = ald_probe_policy_bytes_per_hour(node);
        if (bytes == 0)
                bytes = planner->input->bytes_per_hour;
        return ald_load_share(ald_loads_find(planner->loads, node, interface), carrier_of(node, interface),
                bytes, ald_probe_policy_interval(planner->node));
}

/* Deferred paths are last. Otherwise paths that were never measured are first (link-local ones later, RDMA
 * last), then those that have waited longest. */
static int compare_due(gconstpointer a, gconstpointer b)
{
        const AldDue *left = a, *right = b;
        bool left_waits = left->probe.reason >= ALD_DUE_EXPIRED;
        bool right_waits = right->probe.reason >= ALD_DUE_EXPIRED;
        uint64_t x = left->waits_since, y = right->waits_since;
        int r = left->deferred - right->deferred;

        if (r == 0 && (!left_waits || !right_waits))
                r = (int) left->probe.reason - (int) right->probe.reason;
        if (r == 0 && !left_waits)
                r = (int) left->rank - (int) right->rank;
        if (r == 0)
                r = x < y ? -1 : x > y;
        if (r == 0)
                r = (int) left->probe.scope - (int) right->probe.scope;
        return r != 0 ? r : left->seed < right->seed ? -1 : left->seed > right->seed;
}

static uint64_t traffic_of(const AldPlannerInput *input, const AldInterface *interface)
{
        for (size_t i = 0; i < input->n_traffic; i++)
                if (strcmp(input->traffic[i].interface, interface->id) == 0)
                        return input->traffic[i].bits_per_second;
        return 0;
}

/* Judges by the rates measured through the interface: the port of a modem is much faster than the line behind
 * it. */
static bool is_busy(const AldPlannerInput *input, const AldInterface *interface, const AldLoad *load)
{
        uint64_t capacity = ald_load_capacity(load, interface);

        return capacity != ALD_ABSENT_UINT64 && traffic_of(input, interface) > capacity / BUSY_SHARE;
}

static bool is_blocked(const AldPlannerInput *input, const AldInterface *interface)
{
        return traffic_of(input, interface) == ALD_TRAFFIC_BLOCKED;
}

/* Returns true if another measurement at this end fits into an hour. */
static bool fits_into_hour(const AldLoad *load, const AldDue *due, const AldShare *share)
{
        double spots = share->bytes_per_hour - share->whole_bytes_per_hour;

        return isinf(share->bytes_per_hour) ||
               (double) load->bytes + (double) due->bytes + spots <= HOUR_SHARE * share->bytes_per_hour;
}

/* Returns true if another measurement fits into an hour, and the last one is paid off. */
static bool is_within_share(const AldPlanner *planner, const AldDue *due, const AldNode *node,
        const AldInterface *interface, const AldShare *share)
{
        const AldLoad *load = ald_loads_find(planner->loads, node, interface);

        return ald_load_is_within(load->last_bytes, load->last_age, share->whole_bytes_per_hour) &&
               (load->bytes == 0 || fits_into_hour(load, due, share));
}

/* Returns whether nothing else at this end has to be repeated much earlier. */
static bool is_most_urgent(
        const AldPlanner *planner, const AldDue *due, const AldNode *node, const AldInterface *interface)
{
        const AldLoad *load = ald_loads_find(planner->loads, node, interface);

        return due->deadline == ALD_ABSENT_UINT64 || load->deadline == UINT64_MAX ||
               due->deadline <= load->deadline + (due->deadline - due->measured_usec) / SLACK_SHARE;
}

/* The first measurement after a change does not wait until another one is paid off. A configured limit holds
 * for all of them together; a path that has changed several times has only its last measurement in the bytes
 * of the hour. */
static bool change_has_room(const AldPlanner *planner, const AldDue *due, const AldNode *node,
        const AldInterface *interface, const AldShare *share)
{
        const AldLoad *load = ald_loads_find(planner->loads, node, interface);
        AldLoad whole = *load;

        if (share->change_bytes > 0 &&
                (double) load->change_bytes + (double) due->bytes <= share->change_bytes)
                return true;
        whole.bytes = MAX(load->bytes, load->change_bytes);
        return (share->change_bytes == 0 && fits_into_hour(&whole, due, share)) ||
               is_within_share(planner, due, node, interface, share);
}

/* A changed path does not wait for others. */
static bool end_has_room(const AldPlanner *planner, const AldDue *due, const AldNode *node,
        const AldInterface *interface, const AldShare *share)
{
        if (due->probe.brief)
                return change_has_room(planner, due, node, interface, share);
        return is_within_share(planner, due, node, interface, share) &&
               (due->probe.reason == ALD_DUE_CHANGED || is_most_urgent(planner, due, node, interface));
}

/* The peer's share is this node's if that is configured, else what the peer's interface allows. */
static bool has_room(const AldPlanner *planner, const AldDue *due)
{
        AldShare share = ald_planner_share(planner, planner->node, due->interface), theirs;

        if (due->probe.scope != ALD_LINK_SCOPE_FULL || due->measured_usec == ALD_ABSENT_UINT64)
                return true;
        if (!end_has_room(planner, due, planner->node, due->interface, &share))
                return false;
        if (!due->sink || !due->sink_interface)
                return true;
        theirs = ald_planner_share(planner, due->sink, due->sink_interface);
        if (isfinite(share.bytes_per_hour))
                theirs.whole_bytes_per_hour *= share.whole_bytes_per_hour / share.bytes_per_hour;
        return end_has_room(planner, due, due->sink, due->sink_interface, &theirs);
}

/* Returns whether a probe may start. An overdue one does even in spite of other traffic, since any figures
 * are better than such old ones. */
static bool may_start(AldPlanner *planner, AldDue *due)
{
        const AldLoad *load = ald_loads_find(planner->loads, planner->node, due->interface);
        const AldInterface *carrier = carrier_of(planner->node, due->interface) ?: due->interface;
        bool busy;

        if (!has_room(planner, due))
                return false;
        if (!due->interface)
                return true;
        if (is_blocked(planner->input, due->interface) || is_blocked(planner->input, carrier))
                return false;
        busy = is_busy(planner->input, due->interface, load) || is_busy(planner->input, carrier, load);
        due->probe.despite_traffic = busy && due->probe.overdue;
        return !busy || due->probe.overdue;
}

static bool share_carrier(const AldPlanner *planner, const AldDue *a, const AldDue *b)
{
        return !a->interface || !b->interface ||
               ald_network_find_carrier(planner->own, a->interface) ==
                       ald_network_find_carrier(planner->own, b->interface);
}

/* A probe whose interface is unknown might collide with any other, so it runs alone. */
static bool collides_with_chosen(const AldPlanner *planner, const AldDue *due)
{
        for (guint i = 0; i < planner->chosen->len; i++) {
                const AldDue *other = &g_array_index(planner->chosen, AldDue, i);

                if (ald_id_equal(&other->probe.peer, &due->probe.peer) || share_carrier(planner, other, due))
                        return true;
        }
        return false;
}

GArray *ald_planner_choose(AldPlanner *planner)
{
        GArray *probes = g_array_new(FALSE, FALSE, sizeof(AldDueProbe));

        g_array_sort(planner->due, compare_due);
        for (guint i = 0; i < planner->due->len && planner->chosen->len < planner->input->max; i++) {
                AldDue *due = &g_array_index(planner->due, AldDue, i);

                if (collides_with_chosen(planner, due) || !may_start(planner, due))
                        continue;
                g_array_append_vals(planner->chosen, due, 1);
                g_array_append_val(probes, due->probe);
        }
        return probes;
}
