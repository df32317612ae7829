/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "services/placement/pinned-devices.h"

/*
 * Makes what the planner takes of the arguments of Plan(), with the ids of the nodes and devices that they
 * name. Returns 0, or a code of services/common/errors.h: -ALD_E_NO_SUCH_NODE, -ALD_E_AMBIGUOUS_NAME or
 * -ALD_E_NO_SUCH_DEVICE with the text that names it, or -EINVAL for a text that is not an entry of Split.
 * With -ALD_E_AMBIGUOUS_NAME come the ids of the nodes that the text may mean. Strings and lists of the
 * result are added to `owned`, an array that frees with g_free().
 */
int ald_plan_request_make(AldModel *model, const AldPlanWorkload *workload, const AldPlanOptions *options,
        GPtrArray *owned, AldPlanRequest *ret, const char **ret_text, const char **ret_candidates);
