/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"
#include "placement/plan/kv-types.h"
#include "record/schema.h"

/* A request for a plan, as a person states it: a model whose files were read, or numbers. */
typedef struct AldPlanOrder {
        const AldPlanEngine *engine; /* NULL: any */
        uint64_t message_bytes;      /* for engines without layers, which use this alone */
        const AldLlm *llm;           /* NULL: use the numbers below */
        uint64_t bytes;              /* of all layers */
        uint64_t kv_bytes;           /* of all keys and values; absent: as the model says, or none */
        uint64_t layers;
        uint64_t elements;        /* activations passed between layers for each token */
        uint64_t context;         /* tokens of each request; absent: see ald_plan_order_context() */
        uint64_t parallel;        /* requests at once; absent: 1 */
        AldKvType type_k, type_v; /* ALD_N_KV_TYPES is absent: the default of the engine */
} AldPlanOrder;

#define ALD_PLAN_ORDER_INIT                                                                                \
        {                                                                                                  \
                .message_bytes = ALD_ABSENT_UINT64, .bytes = ALD_ABSENT_UINT64,                            \
                .kv_bytes = ALD_ABSENT_UINT64, .layers = ALD_ABSENT_UINT64, .elements = ALD_ABSENT_UINT64, \
                .context = ALD_ABSENT_UINT64, .parallel = ALD_ABSENT_UINT64, .type_k = ALD_N_KV_TYPES,     \
                .type_v = ALD_N_KV_TYPES,                                                                  \
        }

/* Returns the context of an order that names none: 4096 tokens, or the model's own if that is less. The model
 * may be NULL. */
uint64_t ald_plan_order_context(const AldLlm *llm);

/* Returns true if the engine does not run a model, but sums up messages of all its ranks. */
bool ald_plan_engine_is_collective(const AldPlanEngine *engine);

/* Returns true if the order has all numbers that are needed without a model. */
bool ald_plan_order_has_numbers(const AldPlanOrder *order);

/* Checks that the engine can keep keys and values in these types; -EINVAL with a sentence, to be freed. */
int ald_plan_order_check_types(const AldPlanOrder *order, char **ret_error);

/* Chooses the engine for an order that names none: the first one that reads the model, which may be NULL.
 * *ret_text says why the others were not chosen, to be freed; NULL if there was no choice. */
const AldPlanEngine *ald_plan_order_choose(const AldLlm *llm, char **ret_text);

/* Makes the Workload for Plan() of org.alidade.Placement1, which refers to the model. On error, *ret_error is
 * a sentence, to be freed. */
int ald_plan_order_workload(const AldPlanOrder *order, AldPlanWorkload *ret, char **ret_error);

/* Returns "Example (llama), 32 layers, 11.1 GiB", without the size if that is unknown: safe text, to be
 * freed. */
char *ald_plan_order_title(const AldPlanOrder *order);

/* Returns what else a person should know about the model, to be freed; NULL if there is nothing. */
char *ald_plan_order_note(const AldPlanOrder *order);
