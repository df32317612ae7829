/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * The order of nodes in which a ring all-reduce of a message takes the least time: of n ranks, each cuts the
 * message into n parts and passes one to the next rank 2 (n - 1) times, each time as long as the slowest hop
 * takes: half of its round trip, and the part. Of equal ones, that whose hops take the least in all. All
 * candidates have a rank; if fewer devices or nodes are allowed than nodes have one each, the best ones
 * have. With several devices on a node, which then follow each other, all must be allowed. Where all GPUs
 * must be of one vendor, the one with the most of them, or that of required ones. Exact to 20 nodes; of more,
 * lower_nsec is what every order takes at least. -ENOSPC: paths join no such ring; -E2BIG: it would have
 * more than 256 nodes. The result is to be cleared with ald_plan_steps_clear().
 */
int ald_all_reduce_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

/* Parts of the message that the hops of a plan with that many ranks pass on one after the other. */
static inline double ald_all_reduce_turns(uint32_t ranks)
{
        return 2.0 * (ranks - 1);
}
