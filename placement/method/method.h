/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * How a step passes through the devices of an engine: what a plan consists of, how one is found, and what is
 * said of it. An engine has one method, and several engines may have the same one.
 */
struct AldPlanMethod {
        bool has_layers; /* that devices compute; else a plan is an order of ranks, whatever their speed and
                            memory */
        bool spreads_layers; /* each stage has layers of its own, which a request may pin */
        bool has_ends;       /* the first stage has the embedding, the last one the head: one that is both has
                                the tensor only once if they are tied */
        bool keeps_count; /* what a stage has depends on how many there are, so that those of a large plan are
                             only exchanged for others */
        bool joins_all;   /* each stage sends to all others, of which hops are listed to and from the client
                             only */
        bool waits_for_slowest; /* a step takes as long as its slowest hop */
        uint32_t exact_max;     /* stages up to which the best ones are found for certain, and soon; 0: any */
        double judge_work_max;  /* devices that are left out, times the square of the stages, of which each is
                                   judged by a plan with it if the problem is large */

        /* Words of sentences. */
        const char *step;                   /* "a token" */
        const char *client, *client_holds;  /* beside the embedding; NULL: there is no client */
        const char *least_part, *none_fits; /* of a model: "One layer", "Not one layer fits on any" */

        /* See ald_plan_find_steps(), whose arguments and errors it has. */
        int (*find)(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

        /* Sets the alternatives that give more tokens per second, in longer steps: see front.h. NULL: there
         * are none, as only one step is under way at a time. */
        void (*find_front)(const AldPlanCandidates *candidates, AldPlan *plan);

        /* What the tables of find() take of memory; NULL: it limits that itself. */
        double (*tables_bytes)(const AldPlanCandidates *candidates);

        /* What a device needs for the smallest part of a model. NULL: it needs no memory. */
        uint64_t (*least_bytes)(
                const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanDevice *device);

        /* The most stages that any plan has. */
        uint32_t (*stages_max)(const AldPlanCandidates *candidates);

        /* -EINVAL with the refusal: the node, which is one, cannot be the client of the request. NULL: there
         * is none. */
        int (*check_client)(const AldPlanCandidates *candidates, uint32_t node, AldPlanRefusal *ret_refusal);

        /* Makes it a refusal for the client if no node has room for what that needs at least or, if it is
         * tried again with `alone`, for what it needs while it has no layers. */
        void (*describe_client)(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal);

        /* Whether paths of the choice join a node with the client, in both directions. NULL: one each way. */
        bool (*is_joined)(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t client,
                uint32_t node);

        /* What ald_plan_goal_nsec() of the plan is with paths that the choice changes, if stages and paths
         * stay as they are. NULL: to find the best steps anew takes no longer. */
        double (*same_nsec)(
                const AldPlanCandidates *candidates, const AldPlan *plan, const AldPlanChoice *choice);

        /* What a stage sends to the next one, to the client if that is `back`, or receives from it. NULL:
         * several things. */
        const char *(*payload)(const AldPlanSteps *steps, uint32_t stage, bool back);

        /* Why a device that could be added is not, in English. To be freed with g_free(). */
        char *(*say_needless)(const AldPlanVerdict *verdict);
};

extern const AldPlanMethod ald_star_method;
extern const AldPlanMethod ald_ring_method;
extern const AldPlanMethod ald_slice_method;
extern const AldPlanMethod ald_all_reduce_method;
