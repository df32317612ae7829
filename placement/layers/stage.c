/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/layers/stage.h"
#include "placement/plan/buffers.h"

uint64_t ald_plan_layer_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n)
{
        (void) n;
        return ald_plan_least_bytes(request, device, 1);
}

uint32_t ald_plan_layers_stages_max(const AldPlanWorkload *workload, uint32_t n)
{
        (void) n;
        return (uint32_t) workload->layers;
}

uint32_t ald_plan_stage_layers_max_with(const AldPlanCandidates *candidates, uint32_t candidate,
        AldPlanLayerRun run, uint64_t beside, double buffers)
{
        const AldPlanRequest *request = candidates->request;
        uint32_t pinned = candidates->pinned[candidate];
        double room = ald_plan_layers_room(
                request, ald_plan_candidate_device(candidates, candidate), beside, buffers);
        uint32_t most = ald_plan_layers_max(request, run, room);

        if (pinned == 0)
                return most;
        return most >= pinned ? pinned : 0;
}

uint32_t ald_plan_stage_layers_max(
        const AldPlanCandidates *candidates, uint32_t candidate, AldPlanLayerRun run, uint64_t beside)
{
        return ald_plan_stage_layers_max_with(candidates, candidate, run, beside,
                candidates->request->constants.values[ALD_PLAN_BUFFER_BYTES]);
}

AldPlacementDevice ald_plan_stage_device(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t candidate, AldPlanLayerRun run)
{
        return (AldPlacementDevice){ .layer_nsec = candidates->layer_nsec[candidate],
                .layers_max = ald_plan_stage_layers_max(candidates, candidate, run, 0),
                .required = ald_plan_requires(candidates, choice, candidate) };
}

AldPlanStageCut ald_plan_stage_cut(
        const AldPlanCandidates *candidates, uint32_t candidate, uint64_t beside, double buffers)
{
        const AldPlanRequest *request = candidates->request;
        uint32_t pinned = candidates->pinned[candidate];

        return (AldPlanStageCut){ .room = ald_plan_layers_room(request,
                                          ald_plan_candidate_device(candidates, candidate), beside, buffers),
                .layer_nsec = candidates->layer_nsec[candidate],
                .layers_max = pinned > 0 ? pinned : UINT32_MAX };
}

bool ald_plan_stages_cut(const AldPlanRequest *request, const AldPlanChoice *choice, AldPlanStageCut *cuts,
        AldPlacementStage *stages, uint32_t n, double *nsec)
{
        double more = 0;

        /* The solvers have already placed layers that are alike. */
        if (!request->sizes && !choice->level)
                return true;
        if (!ald_plan_cut(request, cuts, n, choice->level))
                return !request->sizes;
        for (uint32_t i = 0; i < n; i++) {
                more += ((double) cuts[i].layers - stages[i].layers) * cuts[i].layer_nsec;
                stages[i].layers = cuts[i].layers;
        }
        if (fabs(more) > ALD_PLAN_TIE * *nsec)
                *nsec += more;
        return true;
}

AldPlanStage ald_plan_stage(const AldPlanCandidates *candidates, uint32_t candidate, uint32_t layers,
        uint64_t beside, bool has_head)
{
        const AldPlanRequest *request = candidates->request;
        const AldPlanWorkload *workload = request->workload;
        const AldPlanDevice *device = ald_plan_candidate_device(candidates, candidate);

        return (AldPlanStage){ .device = candidates->devices[candidate],
                .layers = layers,
                .has_head = has_head,
                .weight_bytes = beside + (has_head ? workload->head_bytes : 0),
                .buffer_bytes = (uint64_t) request->constants.values[ALD_PLAN_BUFFER_BYTES],
                .reserved_bytes = (uint64_t) ald_plan_reserved_bytes(&request->constants, device),
                .nsec = layers * candidates->layer_nsec[candidate] +
                        (has_head ? candidates->head_nsec[candidate] : 0),
                .is_computing = ald_plan_is_computing_longer(&request->constants, device, workload),
                .path_to = ALD_PLAN_NONE,
                .path_from = ALD_PLAN_NONE };
}

void ald_plan_stages_set_layers(const AldPlanRequest *request, AldPlanStage *stages, uint32_t n)
{
        const AldPlanLayerSizes *sizes = request->sizes;
        uint32_t first = 0;

        for (uint32_t i = 0; i < n; i++) {
                AldPlanStage *stage = &stages[i];
                uint32_t end = first + stage->layers;

                stage->first_layer = first;
                stage->weight_bytes += sizes ? sizes->weights[end] - sizes->weights[first]
                                             : stage->layers * request->workload->layer_bytes;
                stage->kv_bytes = sizes ? sizes->kv[end] - sizes->kv[first]
                                        : stage->layers * request->workload->layer_kv_bytes;
                stage->bytes = stage->weight_bytes + stage->kv_bytes + stage->buffer_bytes +
                               stage->reserved_bytes;
                first = end;
        }
}
