/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "placement/model/model-needs.h"

typedef struct AldPlanMethod AldPlanMethod;     /* see method.h */
typedef struct AldExportFormat AldExportFormat; /* see plan-export.h */

/* The parts of a path that the commands for an engine name. */
typedef enum AldPlanNames {
        ALD_PLAN_NAMES_NOTHING,
        ALD_PLAN_NAMES_IPV4,  /* the address that it leads to, of IPv4 only */
        ALD_PLAN_NAMES_RANKS, /* the ports, and addresses or else host names */
        ALD_PLAN_NAMES_HOSTS, /* the ports, and host names or else addresses of IPv4 */
} AldPlanNames;

/* An engine may not load the files of a model as they are, so that something else has to be done first. */
typedef enum AldEngineReading {
        ALD_MODEL_READ,     /* it loads them as they are, or it is not known what they are */
        ALD_MODEL_PREPARED, /* it does after something else has been done, or only with some part added */
        ALD_MODEL_REFUSED,  /* it cannot be given them */
} AldEngineReading;

typedef struct AldEngineFiles {
        AldEngineReading reading;
        const char *text; /* what is to be done, one English sentence without its full stop; unless it reads
                             them */
} AldEngineFiles;

/* A library by which builds of an engine compute on GPUs. */
typedef struct AldEngineBackend {
        const char *option; /* as users write it; NULL ends a list */
        const char *name;   /* as its project writes it, and in front of the numbers of devices */
        const char *vendor; /* whose GPUs it drives; NULL: any */
        const char *usual;  /* the vendor whose GPUs it is usually built for, and numbers alone; NULL: it is
                               built for those that no other one is for, and numbers all GPUs */
} AldEngineBackend;

#define ALD_ENGINE_FORMATS_MAX 2u

/* An engine: how it runs a model, and what a plan for it may look like. */
typedef struct AldPlanEngine {
        const char *name; /* as users write it; NULL ends the table */
        const AldPlanMethod *method;
        bool takes_processors;
        bool takes_gpus;
        bool takes_rdma;    /* paths over RDMA beside those over sockets */
        bool one_vendor;    /* all GPUs of a plan, as in a group of NCCL or RCCL */
        bool nodes_even;    /* takes as many GPUs of each node as of the others */
        bool needs_context; /* in its commands, to be stated for the plan */
        bool knows_buffers; /* those of buffers.h */
        AldPlanNames names;
        uint32_t devices_max;             /* that it can use; 0: any number */
        uint64_t context_max;             /* tokens of all requests together; 0: any number */
        unsigned kv_types;                /* ALD_KV_BIT() of those in which it can keep keys and values */
        AldEngineFiles gguf, safetensors; /* models in these formats */
        const char *const *architectures; /* that it runs, as these files call them; NULL: any, or unknown */
        const char *architectures_text;   /* what is to be done with others, as in AldEngineFiles */
        const AldExportFormat *formats[ALD_ENGINE_FORMATS_MAX]; /* of its commands */

        /* Its builds differ in these. The `usual` of the last one is NULL, so that each GPU has one, and
         * backends_text says in an English sentence what several of them on one machine need. NULL: a build
         * has all that it needs. */
        const AldEngineBackend *backends;
        const char *backends_text;
} AldPlanEngine;

#define ALD_KV_BIT(type) (1u << (type))
#define ALD_KV_ALL (ALD_KV_BIT(ALD_N_KV_TYPES) - 1)

static inline bool ald_plan_engine_takes(const AldPlanEngine *engine, bool is_processor)
{
        return is_processor ? engine->takes_processors : engine->takes_gpus;
}

/* One is chosen for a model in this order. An engine is added here and nowhere else, but for the format of
 * its commands. */
extern const AldPlanEngine ald_plan_engines[];

/* Returns NULL if there is none of this name. */
const AldPlanEngine *ald_plan_engine_find(const char *name);

/* Returns the name of the engine with this number, from 0, or NULL for the number after the last one. */
const char *ald_plan_engine_name_at(size_t i);

/* Returns the names of all engines, as "llama.cpp, vllm"; to be freed with g_free(). */
char *ald_plan_engine_list(void);
