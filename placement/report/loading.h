/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * How long the weights of a plan take to be read, in English, by the measured rate of the file system with
 * most of the models that are known on the node: of a star, all of them on the node of its client; of a ring,
 * those of its stages on each node, of which the slowest is named. It is the least if more than reading is to
 * be done, or several nodes read from another machine. NULL if that is not known: a rate was not measured, or
 * the weights are not, as for slices and an all-reduce. To be freed with g_free().
 */
char *ald_plan_loading_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps);
