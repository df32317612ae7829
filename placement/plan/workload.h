/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "placement/model/model.h"

/* What is to be placed, in numbers: layers that are alike, and what comes before and after them. */
typedef struct AldPlanWorkload {
        uint32_t layers;
        uint64_t layer_bytes;    /* of the tensors of a layer, the largest one if they differ */
        uint64_t layer_kv_bytes; /* for keys and values of all requests in a layer, the most in any */
        double mean_layer_bytes; /* of the tensors of a layer */
        double token_bytes;      /* of a layer's tensors that one token reads, in the mean */
        double token_kv_bytes; /* of a layer's keys and values that a token of one request reads, in the mean
                                */
        double token_parameters;  /* of a layer that one token uses, in the mean */
        uint64_t embedding_bytes; /* of which a token reads a row */
        uint64_t head_bytes;      /* that one token reads after the last layer */
        double head_parameters;
        uint32_t activation_elements; /* of one token, from layer to layer */
        uint32_t vocabulary;          /* elements of a token's result */
        uint32_t parallel;            /* requests at once, each with a token in each step; 1 or more */
        uint32_t context;             /* tokens of each request */
} AldPlanWorkload;

/*
 * That of a model which decodes for `parallel` requests, each with `context` tokens. Layers that differ are
 * taken for alike: the largest decides on memory, the mean on time. -EOPNOTSUPP if it is not known what the
 * model keeps (see kv_problem), -ENODATA if the files do not state a figure that is needed; else as
 * ald_llm_kv_bytes().
 */
int ald_plan_workload_of_llm(const AldLlm *llm, uint32_t context, uint32_t parallel, AldKvType type_k,
        AldKvType type_v, AldPlanWorkload *ret);
