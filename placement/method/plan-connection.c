/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/method/plan-connection.h"
#include "placement/plan/cost.h"

double ald_plan_connection_nsec(const AldPlanConnection *connection)
{
        return connection->nsec_to + connection->nsec_from;
}

/* Returns the time of one direction, including half of each round trip. */
static double way_nsec(AldPlanPath path, double bytes, double rtts)
{
        double nsec = ald_plan_path_nsec(&path, bytes);

        return isfinite(nsec) ? nsec + rtts * ald_plan_path_nsec(&path, 0) : INFINITY;
}

static double measured_nsec(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t path,
        double bytes, double rtts)
{
        return way_nsec(ald_plan_path_changed(choice, candidates->cluster->paths[path]), bytes, rtts);
}

/* Returns the best path whose reverse is unknown; *ret_nsec is INFINITY if there is none. */
static uint32_t find_single(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source,
        uint32_t sink, double bytes, double rtts, double *ret_nsec)
{
        uint32_t best = ALD_PLAN_NONE;

        *ret_nsec = INFINITY;
        for (uint32_t i = ald_plan_path_first(candidates, source, sink); i != ALD_PLAN_NONE;
                i = candidates->next_path[i]) {
                double nsec = measured_nsec(candidates, choice, i, bytes, rtts);

                if (candidates->cluster->paths[i].reverse != ALD_PLAN_NONE || !(nsec < *ret_nsec))
                        continue;
                best = i;
                *ret_nsec = nsec;
        }
        return best;
}

static AldPlanConnection find_pair(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t client, uint32_t node, double bytes_to, double bytes_from, double rtts)
{
        AldPlanConnection best = { ALD_PLAN_NONE, ALD_PLAN_NONE, bytes_to, bytes_from, INFINITY, INFINITY };

        for (uint32_t to = ald_plan_path_first(candidates, client, node); to != ALD_PLAN_NONE;
                to = candidates->next_path[to]) {
                uint32_t from = candidates->cluster->paths[to].reverse;
                double nsec_to, nsec_from;

                if (from == ALD_PLAN_NONE)
                        continue;
                nsec_to = measured_nsec(candidates, choice, to, bytes_to, rtts);
                nsec_from = measured_nsec(candidates, choice, from, bytes_from, rtts);
                if (nsec_to + nsec_from < ald_plan_connection_nsec(&best))
                        best = (AldPlanConnection){ to, from, bytes_to, bytes_from, nsec_to, nsec_from };
        }
        return best;
}

AldPlanConnection ald_plan_connection_find(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t client, uint32_t node, double bytes_to, double bytes_from, double rtts)
{
        AldPlanConnection pair = find_pair(candidates, choice, client, node, bytes_to, bytes_from, rtts);
        AldPlanConnection other = { .bytes_to = bytes_to, .bytes_from = bytes_from };

        other.path_to = find_single(candidates, choice, client, node, bytes_to, rtts, &other.nsec_to);
        other.path_from = find_single(candidates, choice, node, client, bytes_from, rtts, &other.nsec_from);
        if (pair.path_to != ALD_PLAN_NONE &&
                (other.path_to == ALD_PLAN_NONE || other.path_from == ALD_PLAN_NONE))
                return pair;
        if (other.path_to == ALD_PLAN_NONE)
                other.nsec_to = way_nsec(
                        ald_plan_path_assumed(candidates, choice, client, node), bytes_to, rtts);
        if (other.path_from == ALD_PLAN_NONE)
                other.nsec_from = way_nsec(
                        ald_plan_path_assumed(candidates, choice, node, client), bytes_from, rtts);
        return ald_plan_connection_nsec(&pair) <= ald_plan_connection_nsec(&other) ? pair : other;
}
