/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/problem.h"

/* Stages of a solution to problems that are too large for an exact solver. */
#define ALD_PLACEMENT_STAGES_LIMIT 256u

/*
 * What remains of a problem of many devices while some are ruled out: the devices and hops that a solution of
 * several stages, better than one already found, may use. Devices are numbered anew, the fastest first.
 *
 * Shares price a device by itself: a hop costs at least out_nsec of the device it leaves and into_nsec of the
 * one it enters, so each device of a ring costs at least the sum of its two shares. They are the dual
 * variables of the assignment problem (Kuhn 1955), which a ring is a solution of.
 *
 * Where the hop that closes a ring costs otherwise, one hop of each ring costs less than it does in the core
 * by no more than the most that any may; ends_nsec is less by that, and so is each bound. Hops that can only
 * close a ring are in the core for what they cost then, and others may be there for less than they cost.
 */
typedef struct AldPlacementCore {
        const AldPlacementProblem *problem;
        uint32_t n, layers, most; /* most: stages */
        uint32_t *devices;        /* their numbers in the problem */
        double *hop_nsec;         /* [from * n + to]; INFINITY: ruled out */
        double *out_nsec, *into_nsec;
        double *with_nsec;   /* the least time of solutions that use this device */
        double ends_nsec;    /* the least that both ends take besides layers, less what closing saves */
        double penalty_nsec; /* for what a tour lacks, a hop or room for a layer: more than any solution takes
                              */
        uint64_t work;       /* left to spend, in steps of a few nanoseconds; independent of the machine */
        uint64_t unasked;    /* spent since proceed() was last called */
        bool given_up;       /* no work is left then */
} AldPlacementCore;

/* Without devices that have no room or are not joined to others; the shares are half of the cheapest hop. */
void ald_placement_core_init(AldPlacementCore *core, const AldPlacementProblem *problem, uint64_t work);
void ald_placement_core_clear(AldPlacementCore *core);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlacementCore, ald_placement_core_clear)

/* Asks whether to proceed if this is the time for it, after that much work that is not spent here. */
bool ald_placement_core_proceeds(AldPlacementCore *core, uint64_t work);

/* Lowers hops that would take longer than this beyond what they take if they close the ring. Bounds stay
 * bounds, and are closer if the best ring has no such hop but the one that closes it. */
void ald_placement_core_limit_saved(AldPlacementCore *core, double saved_nsec);

/* Takes that much work, or what is left of it and returns false. */
bool ald_placement_core_spend(AldPlacementCore *core, uint64_t work);

/* Sets into_nsec to all that out_nsec leaves. */
void ald_placement_core_share(AldPlacementCore *core);

/* Rules out what cannot be part of a solution of less than nsec, by with_nsec; returns whether any device was
 * ruled out. Leaves the shares valid, but not as large as they could now be. */
bool ald_placement_core_rule_out(AldPlacementCore *core, double nsec);

static inline const AldPlacementDevice *ald_placement_core_device(const AldPlacementCore *core, uint32_t i)
{
        return &core->problem->devices[core->devices[i]];
}

static inline double ald_placement_core_hop(const AldPlacementCore *core, uint32_t from, uint32_t to)
{
        return core->hop_nsec[(size_t) from * core->n + to];
}

/* What a hop costs beyond the shares. */
static inline double ald_placement_core_rest(const AldPlacementCore *core, uint32_t from, uint32_t to)
{
        return ald_placement_core_hop(core, from, to) - core->out_nsec[from] - core->into_nsec[to];
}

static inline double ald_placement_core_price(const AldPlacementCore *core, uint32_t i)
{
        return core->out_nsec[i] + core->into_nsec[i];
}
