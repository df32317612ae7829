/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/model/model-needs.h"
#include "placement/plan/engine.h"

/* The types in which engines keep keys and values. */

/* As llama.cpp calls them: "f16", "q8_0" … */
const char *ald_kv_type_name(AldKvType type);
/* -EINVAL for any other text. */
int ald_kv_type_from_name(const char *name, AldKvType *ret);

/* Whether an engine can keep them so; NULL: one that can keep them in any type. */
bool ald_plan_engine_keeps(const AldPlanEngine *engine, AldKvType type);

/* How it keeps them by default. */
AldKvType ald_plan_engine_kv_type(const AldPlanEngine *engine);

/* "f16, bf16": all that it can keep them in; to be freed. */
char *ald_plan_engine_kv_type_list(const AldPlanEngine *engine);
