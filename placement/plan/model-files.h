/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/engine.h"
#include "record/schema.h"

/* By ModelFormat and Architecture of the workload, of which either may be absent. *ret_text is one English
 * sentence without its full stop, which says what is to be done; untouched if the files are read. */
AldEngineReading ald_plan_engine_reading(
        const AldPlanEngine *engine, const AldPlanWorkload *workload, const char **ret_text);

/* The first engine that loads the files as they are; the first of all if none does. */
const AldPlanEngine *ald_plan_engine_choose(const AldPlanWorkload *workload);

/* Returns in English why the others were not chosen, to be freed with g_free(); NULL if none was left out. */
char *ald_plan_engine_choice_text(const AldPlanWorkload *workload);
