/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* What a report says in English, one sentence each, to be freed with g_free(). */

/* Why a device is left out. */
char *ald_plan_verdict_sentence(const AldPlanCluster *cluster, const AldPlanRequest *request, uint32_t device,
        const AldPlanVerdict *verdict);

/* Why a node without devices gets no layer. */
char *ald_plan_empty_node_sentence(const AldPlanNode *node);

/* Why there is no plan. */
char *ald_plan_refusal_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal);

/* How many more devices the layers would fit on, by memory alone; NULL: that is not known, or not the cause.
 */
char *ald_plan_more_devices_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanRefusal *refusal);

/* What ten times the rate, or a tenth of the round trip, of a node's paths would change. */
char *ald_plan_sensitivity_sentence(
        const AldPlanNode *node, const AldPlanRequest *request, bool is_rate, double nsec, double nsec_then);

/* Its friendly name, else the first digits of its id; to be freed. */
char *ald_plan_node_label(const AldPlanNode *node);

/* What is to be said about the figures of a path; NULL: nothing. */
char *ald_plan_path_sentence(const AldPlanPath *path);
