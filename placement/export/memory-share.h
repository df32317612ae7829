/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/*
 * The fraction of the memory of its GPUs that a pipeline should take: enough for the plan, and no more than
 * is free. NAN if the plan does not state the figures, or if no fraction suits all stages. GpuReserveBytes
 * are taken by the context of the engine before it checks what is free.
 */

/* Returns the share of the total memory of each GPU, one for all stages of a node, which follow each other. A
 * total that CUDA reports is no less than what is free, so if it is unknown, the share is enough for any
 * total, plus a quarter of what else is free. */
double ald_export_share_of_total(const AldPlanStageRow *stages, guint n);

/* Returns whether the total of any of the stages is unknown, so that the share is one that suffices for any
 * total. */
bool ald_export_is_total_guessed(const AldPlanStageRow *stages, guint n);

/* Returns the share for weights, keys and values of what is free before the model is loaded, on the stage
 * where the least is free. It is the same for all stages, each of which takes as much for keys and values as
 * the one with the least room for them can. */
double ald_export_share_of_free(const AldPlanStageRow *stages, guint n);
