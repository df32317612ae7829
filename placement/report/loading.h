/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * Returns an English sentence on how long reading the weights of a plan takes, at the measured rate of the
 * file system that holds most of the node's known models. In a star, the client's node reads all weights; in
 * a ring, each node reads those of its stages, and the slowest node is named. The time is stated as a minimum
 * if more than reading has to be done, or several nodes read from another machine. Returns NULL if the time
 * is unknown: a rate was not measured, or the weights are unknown, as for slices and an all-reduce. Free with
 * g_free().
 */
char *ald_plan_loading_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps);
