/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * How a step passes through the devices of an engine: what a plan consists of, how one is found, and what is
 * said of it. An engine has one method, and several engines may have the same one.
 */
struct AldPlanMethod {
        bool has_layers; /* that devices compute; else a plan is an order of ranks, whatever their speed and
                            memory, and a step takes as long as its slowest hop */
        bool spreads_layers; /* each stage has layers of its own, which a request may pin; else a stage has a
                                part of all of them, and sends to all others */
        bool has_ends;       /* the first stage has the embedding, the last one the head: one that is both has
                                the tensor only once if they are tied */
        bool is_client_apart; /* the client is no stage; each node exchanges activations with it */
        bool has_front;       /* several steps may be under way, which front.h finds */
        bool keeps_count; /* how much a stage has depends on how many there are, so that those of a large plan
                             are only exchanged for others */
        uint32_t exact_max;    /* stages up to which the best ones are found for certain, and soon; 0: any;
                                  else there is a same_nsec() */
        double judge_work_max; /* devices that are left out, times the square of the stages, of which each is
                                  judged by a plan with it if the problem is large */

        /* These are parts of sentences and of reports. */
        const char *step;                   /* "a token" */
        const char *client, *client_holds;  /* beside the embedding; NULL: there is no client */
        const char *least_part, *none_fits; /* of a model: "One layer", "Not one layer fits on any" */
        const char *payload;                /* that passes on a hop; NULL: several things */
        const char *result; /* the same where a hop leaves the stage with the head; NULL: no other */

        /* See ald_plan_find_steps(), whose arguments and errors it has. */
        int (*find)(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

        /* Bytes that the tables of find() take; NULL: it limits that itself. */
        double (*tables_bytes)(const AldPlanCandidates *candidates);

        /* Bytes that a device needs for the smallest part of a model that is for one of n nodes. NULL: it
         * needs no memory. */
        uint64_t (*least_bytes)(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n);

        /* The most stages that any plan on n devices has. NULL: n. */
        uint32_t (*stages_max)(const AldPlanWorkload *workload, uint32_t n);

        /* Makes it a refusal for the client if no node has room for its least part or, if its client is
         * apart and this is tried again with `alone`, for what it needs while it has no layers. NULL: there
         * is no client. */
        void (*describe_client)(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal);

        /* Returns ald_plan_goal_nsec() of the plan with paths that the choice changes, if stages and paths
         * stay as they are. NULL: to find the best steps anew takes no longer. */
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
