/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* The candidates that may be used, and how. */
typedef struct AldPlanChoice {
        const bool *allowed;        /* of each candidate; NULL: all */
        uint32_t required;          /* a further candidate beside those of the request; or ALD_PLAN_NONE */
        const bool *also_required;  /* of each candidate: whether it is required, too; NULL: no others are */
        const AldPlanSteps *around; /* of a ring: these stages keep their order, and the required candidate is
                                       inserted where it costs least; NULL: any order */
        uint32_t client;            /* of a star: a node; or ALD_PLAN_NONE: the best one */
        uint32_t devices_max, nodes_max; /* 0: all */
        bool nodes_even;                 /* equally many devices of each node */
        uint32_t in_flight; /* steps under way, if the goal is throughput and there may be several; 0: any */
        uint32_t stages;    /* required number of stages, for methods with keeps_count; 0: any number */
        bool limited;       /* a ring of more than 16 devices is not solved exactly */
        bool level;         /* layers are leveled on equally fast devices, see cuts.h */
        /* The node whose paths to and from all others are changed by these factors; ALD_PLAN_NONE: no
         * node. */
        uint32_t changed;
        double rate_factor, rtt_factor;
} AldPlanChoice;

/* Returns the choice of the request: any candidates and any client that it allows. */
AldPlanChoice ald_plan_choice(const AldPlanCandidates *candidates);

/* Removes the limits on devices and nodes, but keeps the limit on ranks, which is one of the solver. */
void ald_plan_choice_remove_limits(AldPlanChoice *choice, const AldPlanCandidates *candidates);

bool ald_plan_allows(const AldPlanChoice *choice, uint32_t candidate);
bool ald_plan_requires(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t candidate);

/* Returns whether the engine can use the candidate beside devices of this vendor. */
bool ald_plan_has_vendor(const AldPlanCandidates *candidates, uint32_t candidate, const char *vendor);

/* Returns the first usable path between two nodes, or ALD_PLAN_NONE; next_path of the candidates leads to the
 * others. */
uint32_t ald_plan_path_first(const AldPlanCandidates *candidates, uint32_t source, uint32_t sink);

/* Returns the path as the choice changes it. */
AldPlanPath ald_plan_path_changed(const AldPlanChoice *choice, AldPlanPath path);

/* Returns the path that the request assumes between two nodes, as the choice changes it; its figures may be
 * NAN. */
AldPlanPath ald_plan_path_assumed(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink);

/* Returns the index of the path between two nodes on which this number of bytes, sent at once, takes the
 * least time with the changes of the choice; or ALD_PLAN_NONE. */
uint32_t ald_plan_path_index(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, double bytes);

/* Returns the path with this index, or the assumed one for ALD_PLAN_NONE, as the choice changes it. Its
 * figures are NAN if there is none. */
AldPlanPath ald_plan_path_at(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, uint32_t index);

/* Returns the path that ald_plan_path_index() finds. */
AldPlanPath ald_plan_path_of(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, double bytes);
