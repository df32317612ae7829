/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"
#include "placement/plan/engine.h"
#include "record/schema.h"

/* The model and load to be placed are an AldPlanWorkload, the argument of Plan() of org.alidade.Placement1,
 * where its fields are described. The planner expects all fields except DraftLayers, LayerSizes,
 * FeedForwardElements, KvTypeK and KvTypeV to be present. */

/* Sets absent fields as described there. Returns -EINVAL and sets *ret_reason if one contradicts another. */
int ald_plan_workload_complete(AldPlanWorkload *workload, const char **ret_reason);

/* Checks that everything is stated that the engine needs; call it first. Returns -EINVAL and sets the reason
 * if not. */
int ald_plan_workload_check(
        const AldPlanWorkload *workload, const AldPlanEngine *engine, const char **ret_reason);

/* Returns the bytes of the embedding and the head on a device that has both, see HeadTied. */
uint64_t ald_plan_ends_bytes(const AldPlanWorkload *workload, const AldPlanEngine *engine);

/*
 * Makes the workload of a model that decodes for `parallel` requests, each with `context` tokens; clear it
 * after use. If layers differ, LayerSizes lists the size of each, and their mean determines the time. Tensors
 * that belong to no layer, such as a second embedding whose rows all layers read, and those for images, are
 * placed with the embedding. Returns -EOPNOTSUPP if the planner does not know what the model keeps (see
 * kv_problem), -ENODATA if the files lack a figure that is needed, or an error of ald_llm_kv_bytes().
 */
int ald_plan_workload_of_llm(const AldLlm *llm, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, AldPlanWorkload *ret);

/* Does the same if all keys and values together have this many bytes, assuming that layers share them
 * evenly. */
int ald_plan_workload_of_llm_and_kv(
        const AldLlm *llm, uint64_t kv_bytes, uint32_t context, uint32_t parallel, AldPlanWorkload *ret);

/* Frees what ald_plan_workload_of_llm() and ald_plan_workload_of_llm_and_kv() allocated. */
void ald_plan_workload_clear(AldPlanWorkload *workload);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanWorkload, ald_plan_workload_clear)
