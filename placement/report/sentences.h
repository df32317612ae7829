/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* English sentences of a report, each to be freed with g_free(). */

/* Says why a device is left out. */
char *ald_plan_verdict_sentence(const AldPlanCluster *cluster, const AldPlanRequest *request, uint32_t device,
        const AldPlanVerdict *verdict);

/* Says why a node without devices gets no layer. */
char *ald_plan_empty_node_sentence(const AldPlanNode *node);

/* Says why there is no plan. */
char *ald_plan_refusal_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal);

/* Says how many more devices the layers need, by memory alone; NULL if that is unknown, or not the cause. */
char *ald_plan_more_devices_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal);

/* Says what ten times the rate, or a tenth of the round trip, of a node's paths would change. */
char *ald_plan_sensitivity_sentence(
        const AldPlanNode *node, const AldPlanRequest *request, bool is_rate, double nsec, double nsec_then);

/* Returns the friendly name of a node, else the first digits of its id; to be freed. */
char *ald_plan_node_label(const AldPlanNode *node);

/* Says what is remarkable about the figures of a path; NULL if nothing is. */
char *ald_plan_path_sentence(const AldPlanPath *path);
