/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/engine.h"
#include "record/schema.h"

/* Returns whether the engine can read the files of a workload, according to its ModelFormat and Architecture,
 * either of which may be absent. *ret_text is set to what to do instead, one English sentence without its
 * full stop; it is left alone if the files can be read. */
AldEngineReading ald_plan_engine_reading(
        const AldPlanEngine *engine, const AldPlanWorkload *workload, const char **ret_text);

/* Returns the first engine that loads the files as they are, or the first of all if none does. */
const AldPlanEngine *ald_plan_engine_choose(const AldPlanWorkload *workload);

/* Returns an English text on why the other engines were not chosen; free with g_free(). NULL if none was left
 * out. */
char *ald_plan_engine_choice_text(const AldPlanWorkload *workload);
