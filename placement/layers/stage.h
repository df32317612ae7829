/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layers/cuts.h"
#include "placement/plan/choice.h"
#include "placement/plan/cost.h"
#include "placement/problem.h"

/* Stars and rings have these: least_bytes() and stages_max() of their methods, and stages. */
uint64_t ald_plan_layer_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n);
uint32_t ald_plan_layers_stages_max(const AldPlanWorkload *workload, uint32_t n);

/* Layers of a candidate that fit with `beside` bytes for what it holds besides, and buffers of BufferBytes;
 * if it has to get a certain number, no more than that, and none if these do not fit. All of them get it
 * then, as their sum is that of all layers. */
uint32_t ald_plan_stage_layers_max(
        const AldPlanCandidates *candidates, uint32_t candidate, AldPlanLayerRun run, uint64_t beside);

/* With others. */
uint32_t ald_plan_stage_layers_max_with(const AldPlanCandidates *candidates, uint32_t candidate,
        AldPlanLayerRun run, uint64_t beside, double buffers);

/* A candidate as the solvers take it, with nothing besides. */
AldPlacementDevice ald_plan_stage_device(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t candidate, AldPlanLayerRun run);

/* What it is for ald_plan_cut(), with this beside its layers. */
AldPlanCut ald_plan_stage_cut(
        const AldPlanCandidates *candidates, uint32_t candidate, uint64_t beside, double buffers);

/* Gives the stages of a solution, in the order of the layers, those that fit now that it is known which ones
 * these are, and levels them if the choice says so; nsec is that of the solution. False: they do not fit. */
bool ald_plan_stages_cut(const AldPlanRequest *request, const AldPlanChoice *choice, AldPlanCut *cuts,
        AldPlacementStage *stages, uint32_t n, double *nsec);

/* A stage with buffers of BufferBytes; hops are not set. Until it is known which layers it has, their bytes
 * do not count: see ald_plan_stages_set_layers(). */
AldPlanStage ald_plan_stage(const AldPlanCandidates *candidates, uint32_t candidate, uint32_t layers,
        uint64_t beside, bool has_head);

/* Sets the first layers of stages that are in the order of the layers, and with them their bytes. */
void ald_plan_stages_set_layers(const AldPlanRequest *request, AldPlanStage *stages, uint32_t n);
