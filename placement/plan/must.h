/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * Of each node that the request requires, a device gets a layer. Where a node has several, each choice of one
 * device of each node is tried, which is exact, if these are 64 at most; else the fastest one of each node
 * has to be used.
 */

/* Whether each such node has a layer. */
bool ald_plan_must_is_met(const AldPlanCandidates *candidates, const AldPlanSteps *steps);

/* Returns whether any steps by this choice meet it. */
bool ald_plan_must_is_sure(const AldPlanCandidates *candidates, const AldPlanChoice *choice);

/* Errors as of ald_plan_find_steps(). */
typedef int AldPlanFinder(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

/* The steps that `find` finds, by which every such node has a layer. */
int ald_plan_must_find(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanFinder *find,
        AldPlanSteps *ret);

/*
 * The steps that take the least time for the engine. -ENOSPC: the layers fit on no choice of devices that
 * paths join, or none was found; then only lower_nsec is set, which is INFINITY if there are none; -E2BIG:
 * there are more devices than a plan is made with; -ECANCELED: the plan is given up. The result is to be
 * cleared with ald_plan_steps_clear().
 */
int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);
