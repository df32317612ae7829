/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/candidates.h"

/* Which of the candidates may be used, and how. */
typedef struct AldPlanChoice {
        const bool *allowed;  /* of each candidate; NULL: all */
        uint32_t required;    /* a candidate, beside those of the request; or ALD_PLAN_NONE */
        uint32_t client;      /* a node; or ALD_PLAN_NONE: the best one */
        uint32_t devices_max; /* 0: all */
        /* The paths between the client and the devices of this node are changed; ALD_PLAN_NONE: none. */
        uint32_t changed;
        double rate_factor, rtt_factor;
} AldPlanChoice;

/* Any candidates and any client, but for what the request says. */
AldPlanChoice ald_plan_choice(const AldPlanCandidates *candidates);
