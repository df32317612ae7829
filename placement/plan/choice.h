/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* Which of the candidates may be used, and how. */
typedef struct AldPlanChoice {
        const bool *allowed;        /* of each candidate; NULL: all */
        uint32_t required;          /* a candidate, beside those of the request; or ALD_PLAN_NONE */
        const bool *also;           /* of each candidate: whether it is required, too; NULL: none is */
        const AldPlanSteps *around; /* of a ring: the required candidate is put where it costs least among
                                       these stages, in their order; NULL: any order */
        uint32_t client;            /* of a star: a node; or ALD_PLAN_NONE: the best one */
        uint32_t devices_max, nodes_max; /* 0: all */
        bool nodes_even;                 /* as many devices of each node as of the others */
        uint32_t in_flight; /* steps under way, if the goal is throughput and there may be several; 0: any */
        uint32_t stages;    /* of a plan, by methods with keeps_count; 0: any number */
        bool limited;       /* a ring of more than 16 devices is not solved exactly */
        bool level;         /* layers on equally fast devices, see cuts.h */
        /* The paths between this node and all others are changed; ALD_PLAN_NONE: none. */
        uint32_t changed;
        double rate_factor, rtt_factor;
} AldPlanChoice;

/* Any candidates and any client, but for what the request says. */
AldPlanChoice ald_plan_choice(const AldPlanCandidates *candidates);

/* Without the limits on devices and nodes, but for that on ranks, which is one of the solver. */
void ald_plan_choice_lift(AldPlanChoice *choice, const AldPlanCandidates *candidates);

bool ald_plan_allows(const AldPlanChoice *choice, uint32_t candidate);
bool ald_plan_requires(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t candidate);

/* Whether the engine can use it beside devices of this vendor. */
bool ald_plan_has_vendor(const AldPlanCandidates *candidates, uint32_t candidate, const char *vendor);

/* The first usable path between two nodes, or ALD_PLAN_NONE; next_path of the candidates has the others. */
uint32_t ald_plan_path_first(const AldPlanCandidates *candidates, uint32_t source, uint32_t sink);

/* The path as the choice changes it. */
AldPlanPath ald_plan_path_changed(const AldPlanChoice *choice, AldPlanPath path);

/* What the request has assumed between two nodes, as the choice changes it; figures may be NAN. */
AldPlanPath ald_plan_path_assumed(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink);

/* The index of the path between two nodes, as the choice changes it, on which this number of bytes, sent at
 * once, takes the least time; or ALD_PLAN_NONE. */
uint32_t ald_plan_path_index(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, double bytes);

/* That of this index, or with ALD_PLAN_NONE the assumed one, as the choice changes it. Its figures are NAN if
 * there is none. */
AldPlanPath ald_plan_path_at(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, uint32_t index);

/* That which ald_plan_path_index() says. */
AldPlanPath ald_plan_path_of(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, double bytes);
