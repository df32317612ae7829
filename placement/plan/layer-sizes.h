/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * What each layer of a model takes, where layers differ. The solvers take layers for alike: they are asked
 * with as many as fit of the smallest run, and if no cut of the layers has room for what they find, with as
 * many as fit of the largest. Once it is known which ones a device has, their sums count. See cuts.h
 * and arrange.h.
 */
typedef struct AldPlanLayerSizes {
        uint32_t n;
        uint64_t *weights, *kv; /* sums over the layers before each, and over all at the end */
        uint64_t *sums;         /* of both */
        uint64_t *most, *least; /* of both, of any run of this many layers; from 0 to n */
        uint64_t room[];        /* that these point into */
} AldPlanLayerSizes;

/* LayerSizes of the workload, which has some, as numbers; free with g_free(). NULL, with *ret_reason: they
 * contradict another field. */
AldPlanLayerSizes *ald_plan_layer_sizes_new(const AldPlanWorkload *workload, const char **ret_reason);

/* LayerSizes of these layers; free with g_strfreev(). NULL: they are alike. */
char **ald_plan_layer_sizes_to_text(const uint64_t *weights, const uint64_t *kv, uint32_t n);
