/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/plan-export.h"

/* A plan that was checked for consistency, as the formats see it. */
struct AldExportPlan {
        const AldPlanRow *plan;
        const AldPlanEngine *engine;   /* NULL if this version does not know it */
        const AldPlanStageRow *stages; /* of the plan itself */
        guint n_stages;
        const AldPlanReport *report;
        const AldPlanExportOptions *options;
};

/* Sets the reason and returns the error. */
int ald_export_fail(int error, char **ret_reason, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Checks the plan of a report, which may come from a file that anyone has written. Returns -ENODATA and sets
 * the reason if it has no plan, or if its stages and hops do not fit together. */
int ald_export_plan_read(const AldPlanReport *report, const AldPlanEngine *engine,
        const AldPlanExportOptions *options, AldExportPlan *ret, char **ret_reason);

/* Returns whether the stages have layers, and so speed and memory. */
bool ald_export_has_layers(const AldExportPlan *plan);

/* Returns the friendly name of a stage's node, its host name or its id. */
const char *ald_export_stage_name(const AldPlanStageRow *stage);

/* Returns the hop of a stage between two nodes, or NULL. */
const AldPlanHopRow *ald_export_find_hop(
        const AldExportPlan *plan, guint stage, const char *source, const char *sink);
bool ald_export_hop_is(const AldPlanHopRow *hop, AldPlanHopRowKind kind);

bool ald_export_is_processor(const AldPlanStageRow *stage);

/* Returns whether the vendor of a stage is this one: "NVIDIA" also matches "NVIDIA Corporation". */
bool ald_export_vendor_is(const AldPlanStageRow *stage, const char *vendor);

/* Sets the number of a stage's GPU among those of its node with the same vendor, or of all vendors, in the
 * order of their ids. GPUs that the plan leaves out count, too, and a card with parts counts once. Returns
 * -ENOTSUP for a part of a GPU. */
int ald_export_gpu_number(const AldExportPlan *plan, const AldPlanStageRow *stage, bool of_vendor, guint *ret,
        char **ret_reason);
