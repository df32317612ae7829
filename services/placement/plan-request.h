/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "services/placement/pinned-devices.h"

/*
 * Converts the arguments of Plan() to a request for the planner, with the ids of the nodes and devices that
 * they name. Returns 0, or an error: -ALD_E_NO_SUCH_NODE, -ALD_E_AMBIGUOUS_NAME or -ALD_E_NO_SUCH_DEVICE with
 * the name in *ret_text, or -EINVAL with a text that is not an entry of Split. For -ALD_E_AMBIGUOUS_NAME,
 * *ret_candidates has the ids of the matching nodes. Strings and lists of the result are added to `owned`, an
 * array that frees with g_free().
 */
int ald_plan_request_make(AldModel *model, const AldPlanWorkload *workload, const AldPlanOptions *options,
        GPtrArray *owned, AldPlanRequest *ret, const char **ret_text, const char **ret_candidates);
