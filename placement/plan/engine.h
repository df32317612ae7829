/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct AldPlanMethod AldPlanMethod; /* see method.h */

/* The parts of a path that the commands for an engine name. */
typedef enum AldPlanNames {
        ALD_PLAN_NAMES_NOTHING,
        ALD_PLAN_NAMES_IPV4,  /* the address that it leads to, of IPv4 only */
        ALD_PLAN_NAMES_RANKS, /* the ports, and addresses or else host names */
        ALD_PLAN_NAMES_HOSTS, /* the ports, and host names or else addresses of IPv4 */
} AldPlanNames;

/* What a plan for an engine may look like. */
typedef struct AldPlanEngine {
        const char *name; /* as users write it */
        const AldPlanMethod *method;
        bool takes_processors;
        bool takes_gpus;
        bool takes_rdma;         /* paths over RDMA beside those over sockets */
        bool one_vendor;         /* all GPUs of a plan, as in a group of NCCL or RCCL */
        bool nodes_even;         /* takes as many GPUs of each node as of the others */
        bool needs_context;      /* in its commands, to be stated for the plan */
        bool knows_buffers;      /* those of buffers.h */
        bool differs_by_backend; /* of its GPUs: there are builds for each, see engine-builds.h */
        AldPlanNames names;
        uint32_t devices_max; /* that it can use; 0: any number */
        uint64_t context_max; /* tokens of all requests together; 0: any number */
} AldPlanEngine;

static inline bool ald_plan_engine_takes(const AldPlanEngine *engine, bool is_processor)
{
        return is_processor ? engine->takes_processors : engine->takes_gpus;
}

/* NULL: there is none of this name. */
const AldPlanEngine *ald_plan_engine_find(const char *name);
