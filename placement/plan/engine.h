/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "placement/model/model-needs.h"

typedef struct AldPlanMethod AldPlanMethod;     /* see method.h */
typedef struct AldExportFormat AldExportFormat; /* see plan-export.h */

/* The parts of a path that the commands for an engine contain. */
typedef enum AldPlanNames {
        ALD_PLAN_NAMES_NOTHING,
        ALD_PLAN_NAMES_IPV4,  /* the IPv4 address that it leads to */
        ALD_PLAN_NAMES_RANKS, /* the ports, and addresses, or host names if there are none */
        ALD_PLAN_NAMES_HOSTS, /* the ports, and host names, or IPv4 addresses if there are none */
} AldPlanNames;

/* The ability of an engine to load the files of a model. */
typedef enum AldEngineReading {
        ALD_MODEL_READ,     /* it loads them as they are, or their format is unknown */
        ALD_MODEL_PREPARED, /* it loads them after something else has been done, or only with a part added */
        ALD_MODEL_REFUSED,  /* it cannot load them */
} AldEngineReading;

typedef struct AldEngineFiles {
        AldEngineReading reading;
        const char *text; /* what to do instead, one English sentence without its full stop; NULL if it reads
                             them */
} AldEngineFiles;

/* A library with which builds of an engine compute on GPUs. */
typedef struct AldEngineBackend {
        const char *option; /* as users write it; NULL ends a list */
        const char *name;   /* as its project writes it; also the prefix of device numbers */
        const char *vendor; /* vendor whose GPUs it drives; NULL: any */
        /* The vendor whose GPUs it is usually built for, and the only ones that it numbers. NULL: it is built
         * for GPUs that no other library is built for, and numbers all GPUs. */
        const char *usual;
} AldEngineBackend;

#define ALD_ENGINE_FORMATS_MAX 2u

/* An engine: how it runs a model, and which plans it can run. */
typedef struct AldPlanEngine {
        const char *name; /* as users write it; NULL ends the table */
        const AldPlanMethod *method;
        bool takes_processors;
        bool takes_gpus;
        bool takes_rdma;    /* it uses paths over RDMA besides those over sockets */
        bool one_vendor;    /* all GPUs of a plan must be of one vendor, as in a group of NCCL or RCCL */
        bool nodes_even;    /* it needs equally many GPUs of each node */
        bool needs_context; /* its commands contain the context, so the plan's workload must state it */
        bool knows_buffers; /* its compute buffers are those of buffers.h */
        AldPlanNames names;
        uint32_t devices_max;             /* most devices that it can use; 0: any number */
        uint64_t context_max;             /* tokens of all requests together; 0: any number */
        unsigned kv_types;                /* ALD_KV_BIT() of each type in which it can keep keys and values */
        AldEngineFiles gguf, safetensors; /* how it reads models in these formats */
        const char *const *architectures; /* architectures that it runs, as such files name them; NULL: any,
                                             or unknown */
        const char *architectures_text;   /* what to do with others, as in AldEngineFiles */
        const AldExportFormat *formats[ALD_ENGINE_FORMATS_MAX]; /* formats of its commands */

        /* The libraries in which its builds differ. `usual` of the last one is NULL, so that there is one for
         * each GPU. backends_text is an English sentence on what several of them on one machine need. NULL if
         * every build supports all GPUs. */
        const AldEngineBackend *backends;
        const char *backends_text;
} AldPlanEngine;

#define ALD_KV_BIT(type) (1u << (type))
#define ALD_KV_ALL (ALD_KV_BIT(ALD_N_KV_TYPES) - 1)

static inline bool ald_plan_engine_takes(const AldPlanEngine *engine, bool is_processor)
{
        return is_processor ? engine->takes_processors : engine->takes_gpus;
}

/* All engines, in the order in which one is chosen for a model. A new engine is a row of
 * placement/engine/engine-table.c and a format of its commands. */
extern const AldPlanEngine ald_plan_engines[];

/* Returns NULL if there is none of this name. */
const AldPlanEngine *ald_plan_engine_find(const char *name);

/* Returns the name of the engine with this number, from 0, or NULL for the number after the last one. */
const char *ald_plan_engine_name_at(size_t i);

/* Returns the names of all engines, as "llama.cpp, vllm"; to be freed with g_free(). */
char *ald_plan_engine_list(void);
