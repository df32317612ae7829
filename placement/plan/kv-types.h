/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/model/model-needs.h"
#include "placement/plan/engine.h"

/* The types in which engines keep keys and values. */

/* Returns the name in llama.cpp, such as "f16" or "q8_0". */
const char *ald_kv_type_name(AldKvType type);
/* Returns -EINVAL for any other text. */
int ald_kv_type_from_name(const char *name, AldKvType *ret);

/* Returns whether the engine can keep keys and values in this type. NULL stands for an engine that can use
 * any type. */
bool ald_plan_engine_keeps(const AldPlanEngine *engine, AldKvType type);

/* Returns the type that the engine uses by default. */
AldKvType ald_plan_engine_kv_type(const AldPlanEngine *engine);

/* Returns all types that the engine can use, as "f16, bf16"; free with g_free(). */
char *ald_plan_engine_kv_type_list(const AldPlanEngine *engine);
