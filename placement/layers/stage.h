/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layers/cuts.h"
#include "placement/plan/choice.h"
#include "placement/plan/cost.h"
#include "placement/problem.h"

/* least_bytes() and stages_max() of the methods of stars and rings. */
uint64_t ald_plan_layer_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n);
uint32_t ald_plan_layers_stages_max(const AldPlanWorkload *workload, uint32_t n);

/* Returns how many layers fit on a candidate that also holds `beside` bytes, and buffers of BufferBytes. If
 * its layers are pinned, that is their number, or 0 if they do not fit; then all candidates get their number,
 * since the sum is that of all layers. */
uint32_t ald_plan_stage_layers_max(
        const AldPlanCandidates *candidates, uint32_t candidate, AldPlanLayerRun run, uint64_t beside);

/* Returns the same with buffers of this size. */
uint32_t ald_plan_stage_layers_max_with(const AldPlanCandidates *candidates, uint32_t candidate,
        AldPlanLayerRun run, uint64_t beside, double buffers);

/* Describes a candidate to the solvers, holding nothing besides layers. */
AldPlacementDevice ald_plan_stage_device(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t candidate, AldPlanLayerRun run);

/* Describes a candidate to ald_plan_cut(), holding this beside its layers. */
AldPlanStageCut ald_plan_stage_cut(
        const AldPlanCandidates *candidates, uint32_t candidate, uint64_t beside, double buffers);

/* Sets the layers of the stages of a solution, which are in the order of the layers, now that it is known
 * which layers each has, levels them if the choice says so, and updates nsec of the solution. Returns false
 * if they do not fit. */
bool ald_plan_stages_cut(const AldPlanRequest *request, const AldPlanChoice *choice, AldPlanStageCut *cuts,
        AldPlacementStage *stages, uint32_t n, double *nsec);

/* Returns a stage with buffers of BufferBytes and without hops. The bytes of its layers are added by
 * ald_plan_stages_set_layers(), when it is known which layers it has. */
AldPlanStage ald_plan_stage(const AldPlanCandidates *candidates, uint32_t candidate, uint32_t layers,
        uint64_t beside, bool has_head);

/* Sets the first layer of each stage, which are in the order of the layers, and the bytes that depend on
 * it. */
void ald_plan_stages_set_layers(const AldPlanRequest *request, AldPlanStage *stages, uint32_t n);
