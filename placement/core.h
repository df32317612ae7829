/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/problem.h"

/* Most stages of a solution to a problem that is too large for an exact solver. */
#define ALD_PLACEMENT_STAGES_LIMIT 256u

/*
 * The part of a large problem that is not ruled out yet: the devices and hops that a solution of several
 * stages may use if it is better than one already found. Devices are numbered anew, the fastest first.
 *
 * Shares price a device by itself: a hop costs at least out_nsec of the device it leaves and into_nsec of the
 * one it enters, so each device of a ring costs at least the sum of its two shares. They are the dual
 * variables of the assignment problem (Kuhn 1955), of which every ring is a solution.
 *
 * If the closing hop has a cost of its own, one hop of each ring may cost less than in the core. ends_nsec,
 * and so each bound, is reduced by the most that this can save. Hops that can only close a ring have their
 * closing cost in the core; other hops may have less than their cost there.
 */
typedef struct AldPlacementCore {
        const AldPlacementProblem *problem;
        uint32_t n, layers, most; /* most stages */
        uint32_t *devices;        /* numbers in the problem */
        double *hop_nsec;         /* [from * n + to]; INFINITY: ruled out */
        double *out_nsec, *into_nsec;
        double *with_nsec;   /* the least time of solutions that use this device */
        double ends_nsec;    /* least time of both ends besides layers, less what closing saves */
        double penalty_nsec; /* for a missing hop or room for a layer; more than any solution takes */
        uint64_t work;       /* work left, in steps of a few nanoseconds; independent of the machine */
        uint64_t unasked;    /* work since proceed() was last called */
        bool given_up;       /* proceed() returned false; no work is left then */
} AldPlacementCore;

/* Leaves out devices without room for the fewest layers. The shares start from half of the cheapest hop. */
void ald_placement_core_init(AldPlacementCore *core, const AldPlacementProblem *problem, uint64_t work);
void ald_placement_core_clear(AldPlacementCore *core);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlacementCore, ald_placement_core_clear)

/* Calls proceed() of the problem from time to time. `work` is counted towards that, but not spent. */
bool ald_placement_core_proceeds(AldPlacementCore *core, uint64_t work);

/* Lowers each hop to at most its closing cost plus saved_nsec. Bounds remain valid, and become tighter if at
 * most one hop of the best ring, the closing one, is affected. */
void ald_placement_core_limit_saved(AldPlacementCore *core, double saved_nsec);

/* Spends this much work. If less is left, spends the rest and returns false. */
bool ald_placement_core_spend(AldPlacementCore *core, uint64_t work);

/* Sets into_nsec to the most that is possible beside out_nsec. */
void ald_placement_core_share(AldPlacementCore *core);

/* Rules out devices and hops that cannot be part of a solution of less than nsec, according to with_nsec.
 * Returns whether any device was ruled out. The shares remain valid, but could now be larger. */
bool ald_placement_core_rule_out(AldPlacementCore *core, double nsec);

static inline const AldPlacementDevice *ald_placement_core_device(const AldPlacementCore *core, uint32_t i)
{
        return &core->problem->devices[core->devices[i]];
}

static inline double ald_placement_core_hop(const AldPlacementCore *core, uint32_t from, uint32_t to)
{
        return core->hop_nsec[(size_t) from * core->n + to];
}

/* Returns what a hop costs beyond the shares. */
static inline double ald_placement_core_rest(const AldPlacementCore *core, uint32_t from, uint32_t to)
{
        return ald_placement_core_hop(core, from, to) - core->out_nsec[from] - core->into_nsec[to];
}

static inline double ald_placement_core_price(const AldPlacementCore *core, uint32_t i)
{
        return core->out_nsec[i] + core->into_nsec[i];
}
