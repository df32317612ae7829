/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/plan/stage.h"
#include "placement/plan/cost.h"

uint32_t ald_plan_stage_layers_max_with(
        const AldPlanCandidates *candidates, uint32_t candidate, uint64_t beside, double buffers)
{
        const AldPlanRequest *request = candidates->request;
        uint32_t pinned = candidates->pinned[candidate];
        uint32_t most = ald_plan_layers_max(&request->constants,
                ald_plan_candidate_device(candidates, candidate), request->workload, beside, buffers);

        if (pinned == 0)
                return most;
        return most >= pinned ? pinned : 0;
}

uint32_t ald_plan_stage_layers_max(const AldPlanCandidates *candidates, uint32_t candidate, uint64_t beside)
{
        return ald_plan_stage_layers_max_with(
                candidates, candidate, beside, candidates->request->constants.values[ALD_PLAN_BUFFER_BYTES]);
}

AldPlacementDevice ald_plan_stage_device(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t candidate)
{
        return (AldPlacementDevice){ .layer_nsec = candidates->layer_nsec[candidate],
                .layers_max = ald_plan_stage_layers_max(candidates, candidate, 0),
                .required = ald_plan_requires(candidates, choice, candidate) };
}

void ald_plan_stage_set_buffers(AldPlanStage *stage, double buffers)
{
        stage->buffer_bytes = (uint64_t) buffers;
        stage->bytes = stage->weight_bytes + stage->kv_bytes + stage->buffer_bytes + stage->reserved_bytes;
}

AldPlanStage ald_plan_stage(const AldPlanCandidates *candidates, uint32_t candidate, uint32_t layers,
        uint64_t beside, bool has_head)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanWorkload *workload = request->workload;
        const AldPlanDevice *device = ald_plan_candidate_device(candidates, candidate);
        uint64_t held = beside + (has_head ? workload->head_bytes : 0);
        AldPlanStage stage = { .device = candidates->devices[candidate],
                .layers = layers,
                .has_head = has_head,
                .weight_bytes = layers * workload->layer_bytes + held,
                .kv_bytes = layers * workload->layer_kv_bytes,
                .reserved_bytes = (uint64_t) ald_plan_reserved_bytes(&request->constants, device),
                .nsec = layers * candidates->layer_nsec[candidate] +
                        (has_head ? candidates->head_nsec[candidate] : 0),
                .is_computing = ald_plan_is_computing_longer(&request->constants, device, workload),
                .path_to = ALD_PLAN_NONE,
                .path_from = ALD_PLAN_NONE };

        ald_plan_stage_set_buffers(&stage, request->constants.values[ALD_PLAN_BUFFER_BYTES]);
        return stage;
}

void ald_plan_stages_number(AldPlanStage *stages, uint32_t n)
{
        uint32_t first = 0;

        for (uint32_t i = 0; i < n; i++) {
                stages[i].first_layer = first;
                first += stages[i].layers;
        }
}
