/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * Finds the steps that take the least time for the engine; clear them with ald_plan_steps_clear(). Returns
 * -ENOSPC if the layers fit on no choice of devices that paths join, or none was found; then only lower_nsec
 * is set, to INFINITY if there provably is none. Returns -E2BIG if there are too many devices to plan with,
 * and -ECANCELED if the plan is given up.
 */
int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

/*
 * At least one device of each node that the request requires gets a layer. If such nodes have several
 * devices, each way to choose one device of each node is tried, which is exact, up to 64 ways; with more, the
 * fastest device of each node is required.
 */

/* Returns whether each required node has a layer. */
bool ald_plan_required_nodes_are_used(const AldPlanCandidates *candidates, const AldPlanSteps *steps);

/* Returns whether all steps that obey this choice meet the requirement. */
bool ald_plan_required_nodes_are_ensured(const AldPlanCandidates *candidates, const AldPlanChoice *choice);

/* Finds steps, with the errors of ald_plan_find_steps(). */
typedef int AldPlanFinder(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

/* Finds the best steps of `find` in which each required node has a layer. */
int ald_plan_find_with_required_nodes(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        AldPlanFinder *find, AldPlanSteps *ret);
