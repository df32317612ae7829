/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/schema.h"

/* Constants that the cost model assumes until they are measured. Values and sources are in constants.c. */
typedef enum AldPlanConstant {
        ALD_PLAN_GPU_MEMORY_EFFICIENCY,
        ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY,
        ALD_PLAN_COMPUTE_EFFICIENCY,
        ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY,
        ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY,
        ALD_PLAN_LAYER_NSEC, /* replaces the next five; NAN by default */
        ALD_PLAN_CUDA_LAYER_NSEC,
        ALD_PLAN_ROCM_LAYER_NSEC,
        ALD_PLAN_VULKAN_LAYER_NSEC,
        ALD_PLAN_METAL_LAYER_NSEC,
        ALD_PLAN_PROCESSOR_LAYER_NSEC,
        ALD_PLAN_GPU_RESERVE_BYTES,
        ALD_PLAN_HOST_RESERVE_BYTES,
        ALD_PLAN_BUFFER_BYTES,
        ALD_PLAN_ACTIVATION_BYTES,
        ALD_PLAN_STAR_ROUND_TRIPS,
        ALD_PLAN_STAR_STEP_BYTES,
        ALD_PLAN_STAR_SERVER_NSEC,
        ALD_PLAN_STAR_FIRST_COPIES,
        ALD_PLAN_TRANSPORT_OVERHEAD,
        ALD_PLAN_INNER_HOP_NSEC,
        ALD_PLAN_N_CONSTANTS,
} AldPlanConstant;

typedef struct AldPlanConstants {
        double values[ALD_PLAN_N_CONSTANTS];
        bool is_given[ALD_PLAN_N_CONSTANTS]; /* stated by the options */
} AldPlanConstants;

/* A constant; the field of the same name in AldPlanOptions documents its meaning, unit and limits. */
typedef struct AldPlanConstantInfo {
        const char *name, *source;
        double value; /* default; NAN if it only counts when the options state it */
} AldPlanConstantInfo;

extern const AldPlanConstantInfo ald_plan_constants[ALD_PLAN_N_CONSTANTS];

/* Sets the constants to their defaults, except those that the options state. options may be NULL. */
void ald_plan_constants_init(AldPlanConstants *constants, const AldPlanOptions *options);

/* Returns whether the options, which may be NULL, state the constant. */
bool ald_plan_constant_is_given(const AldPlanOptions *options, AldPlanConstant constant);
