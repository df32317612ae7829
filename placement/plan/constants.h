/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What the cost model assumes until it is measured: names, units and sources are in constants.c. */
typedef enum AldPlanConstant {
        ALD_PLAN_GPU_MEMORY_EFFICIENCY,
        ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY,
        ALD_PLAN_COMPUTE_EFFICIENCY,
        ALD_PLAN_LAYER_NSEC,
        ALD_PLAN_GPU_RESERVE_BYTES,
        ALD_PLAN_HOST_RESERVE_BYTES,
        ALD_PLAN_BUFFER_BYTES,
        ALD_PLAN_ACTIVATION_BYTES,
        ALD_PLAN_STAR_ROUND_TRIPS,
        ALD_PLAN_STAR_STEP_BYTES,
        ALD_PLAN_TRANSPORT_OVERHEAD,
        ALD_PLAN_INNER_HOP_NSEC,
        ALD_PLAN_N_CONSTANTS,
} AldPlanConstant;

typedef struct AldPlanConstants {
        double values[ALD_PLAN_N_CONSTANTS];
} AldPlanConstants;

typedef struct AldPlanConstantInfo {
        const char *name, *unit, *source;
        double value;    /* by default */
        double min, max; /* that may be given instead */
} AldPlanConstantInfo;

extern const AldPlanConstantInfo ald_plan_constants[ALD_PLAN_N_CONSTANTS];

void ald_plan_constants_init(AldPlanConstants *constants);

/* -ENOENT: unknown name; -ERANGE: the value is not between min and max. */
int ald_plan_constants_set(AldPlanConstants *constants, const char *name, double value);
