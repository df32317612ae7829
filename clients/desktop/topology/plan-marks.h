/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/topology/drawn-lines.h"
#include "placement/report/plan-report.h"

/* The marks of a plan on the map: which node runs which stages, and what they transfer in which order. */
typedef struct AldPlanMarks AldPlanMarks;

/* Copies what it needs of the report. */
AldPlanMarks *ald_plan_marks_new(const AldPlanReport *report);
void ald_plan_marks_free(AldPlanMarks *marks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlanMarks, ald_plan_marks_free)

typedef struct AldNodeMark {
        char *numbers; /* such as "1, 3"; empty for a client without a stage */
        char *layers;  /* such as "layers 0–19", and whether the node is the client */
        char *words;   /* both, for screen readers */
} AldNodeMark;

/* Returns NULL for a node without a part in the plan, or without marks. */
const AldNodeMark *ald_plan_marks_node(const AldPlanMarks *marks, const char *node);

/* Returns all stages in their order, such as "1 alpha → 2 beta". */
const char *ald_plan_marks_order(const AldPlanMarks *marks);

/* Sets `planned` and the labels of the lines over which the plan transfers data. Lines name nodes by their
 * index in `ids`. A transfer without a line is left out. */
void ald_plan_marks_apply(const AldPlanMarks *marks, GPtrArray *lines, const char *const *ids);
