/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/topology/drawn-lines.h"
#include "placement/report/plan-report.h"

/* What a plan adds to the map: which node runs which stages, and what passes between them in which order. */
typedef struct AldPlanMarks AldPlanMarks;

/* Refers to nothing of the report. */
AldPlanMarks *ald_plan_marks_new(const AldPlanReport *report);
void ald_plan_marks_free(AldPlanMarks *marks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlanMarks, ald_plan_marks_free)

typedef struct AldNodeMark {
        char *numbers; /* "1, 3"; empty for a client without a stage */
        char *layers;  /* "layers 0–19", and whether it is the client */
        char *words;   /* all of it, for a screen reader */
} AldNodeMark;

/* NULL for a node without a part in the plan. The marks may be NULL. */
const AldNodeMark *ald_plan_marks_node(const AldPlanMarks *marks, const char *node);

/* "1 alpha → 2 beta": all stages in their order. */
const char *ald_plan_marks_order(const AldPlanMarks *marks);

/* Sets `planned` and the labels of the lines over which the plan transfers. `ids` are those of the nodes that
 * the lines name by index. A transfer without such a line is left out. */
void ald_plan_marks_apply(const AldPlanMarks *marks, GPtrArray *lines, const char *const *ids);
