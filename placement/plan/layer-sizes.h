/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * The size of each layer of a model whose layers differ. The solvers assume that layers are alike: they are
 * first given the number of layers that fit if these are the smallest ones, and if no cut of the layers has
 * room for the result, the number that fits if they are the largest ones. Once the layers of a device are
 * known, their sums count. See cuts.h and arrange.h.
 */
typedef struct AldPlanLayerSizes {
        uint32_t n;
        uint64_t *weights, *kv; /* [i]: sum over the first i layers */
        uint64_t *sums;         /* sums of both */
        /* [i]: the most and the least of both for any i consecutive layers, from 0 to n. */
        uint64_t *most, *least;
        uint64_t room[]; /* memory that these point into */
} AldPlanLayerSizes;

/* Parses LayerSizes of the workload, which must be present; free with g_free(). Returns NULL and sets
 * *ret_reason if they are malformed or contradict another field. */
AldPlanLayerSizes *ald_plan_layer_sizes_new(const AldPlanWorkload *workload, const char **ret_reason);

/* Returns LayerSizes of these layers; free with g_strfreev(). NULL if they are alike. */
char **ald_plan_layer_sizes_to_text(const uint64_t *weights, const uint64_t *kv, uint32_t n);
