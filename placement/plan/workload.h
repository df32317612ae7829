/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"
#include "placement/plan/engine.h"
#include "record/schema.h"

/* What is to be placed is an AldPlanWorkload: the argument of Plan() of org.alidade.Placement1, where its
 * fields are described. The planner takes one without absent fields but DraftLayers, LayerSizes,
 * FeedForwardElements, KvTypeK and KvTypeV. */

/* Sets absent fields as described there. -EINVAL, with *ret_reason if one contradicts another. */
int ald_plan_workload_complete(AldPlanWorkload *workload, const char **ret_reason);

/* Whether all is stated that the engine needs; -EINVAL with the reason. To be called first. */
int ald_plan_workload_check(
        const AldPlanWorkload *workload, const AldPlanEngine *engine, const char **ret_reason);

/* Bytes of the embedding and the head on a device that has both: see HeadTied. */
uint64_t ald_plan_ends_bytes(const AldPlanWorkload *workload, const AldPlanEngine *engine);

/*
 * That of a model which decodes for `parallel` requests, each with `context` tokens, to be cleared. Where
 * layers differ, LayerSizes has what each takes, and the mean decides on time. Tensors of no layer, such as a
 * second embedding whose rows all layers read, and those for images, are where the embedding is. -EOPNOTSUPP
 * if it is not known what the model keeps (see kv_problem), -ENODATA if the files do not state a figure that
 * is needed; else as ald_llm_kv_bytes().
 */
int ald_plan_workload_of_llm(const AldLlm *llm, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, AldPlanWorkload *ret);

/* Frees what these made. */
void ald_plan_workload_clear(AldPlanWorkload *workload);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanWorkload, ald_plan_workload_clear)

/* The same if all keys and values together have this many bytes, which layers are taken to share evenly. */
int ald_plan_workload_of_llm_and_kv(
        const AldLlm *llm, uint64_t kv_bytes, uint32_t context, uint32_t parallel, AldPlanWorkload *ret);
