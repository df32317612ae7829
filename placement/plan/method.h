/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * How a step passes through the devices of an engine: what a plan consists of, how it is found, and how it is
 * described. An engine has one method, which several engines may share.
 */
struct AldPlanMethod {
        bool has_layers; /* devices compute layers; else a plan is an order of ranks, whatever their speed and
                            memory, and a step takes as long as its slowest hop */
        bool spreads_layers; /* each stage has its own layers, which a request may pin; else a stage has a
                                part of each layer, and sends to all others */
        bool has_ends; /* the first stage has the embedding and the last one the head; a stage with both has
                          the tensor only once if they are tied */
        bool is_client_apart; /* the client is no stage; each node exchanges activations with it */
        bool has_front;       /* several steps may be under way; front.h decides how many */
        bool keeps_count;   /* the size of a stage depends on the number of stages, so in a large plan devices
                               are only exchanged for others */
        uint32_t exact_max; /* most stages of which the best are found exactly and quickly; 0: any number. If
                               it is not 0, same_nsec() is set */
        double judge_work_max; /* for large problems: most unused devices times the square of the stages for
                                  which each device is judged by a plan with it */

        /* Parts of sentences and of reports. */
        const char *step; /* "a token" */
        /* The client, and what it holds beside the embedding; both NULL without a client. */
        const char *client, *client_holds;
        const char *least_part, *none_fits; /* part of a model: "One layer", "Not one layer fits on any" */
        const char *payload;                /* what passes on a hop; NULL if there are several things */
        const char *result; /* what passes on a hop from the stage with the head; NULL: the payload */

        /* Finds the best steps; see ald_plan_find_steps() for its arguments and errors. */
        int (*find)(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

        /* Returns the bytes that the tables of find() take. NULL if find() limits them itself. */
        double (*tables_bytes)(const AldPlanCandidates *candidates);

        /* Returns the bytes that a device needs for the smallest part of a model in a cluster of n nodes.
         * NULL if ranks need no memory. */
        uint64_t (*least_bytes)(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n);

        /* Returns the most stages that any plan on n devices has. NULL means n. */
        uint32_t (*stages_max)(const AldPlanWorkload *workload, uint32_t n);

        /* Returns whether no node has room for the least that a client needs, and sets the refusal if so. If
         * the client is apart, `alone` stands for what it needs without layers. NULL if there is no
         * client. */
        bool (*refuse_client)(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal);

        /* Returns ald_plan_goal_nsec() of the plan with the paths that the choice changes, if stages and
         * paths stay the same. NULL if finding the best steps again takes no longer. */
        double (*same_nsec)(
                const AldPlanCandidates *candidates, const AldPlan *plan, const AldPlanChoice *choice);
};

extern const AldPlanMethod ald_star_method;
extern const AldPlanMethod ald_ring_method;
extern const AldPlanMethod ald_slice_method;
extern const AldPlanMethod ald_all_reduce_method;

static inline const AldPlanMethod *ald_plan_method_of(const AldPlanCandidates *candidates)
{
        return candidates->request->engine->method;
}
