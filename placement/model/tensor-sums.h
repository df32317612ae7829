/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"

typedef enum AldTensorPlace {
        ALD_TENSOR_LAYER,
        ALD_TENSOR_EMBEDDING,
        ALD_TENSOR_HEAD,
        ALD_TENSOR_DRAFT,
        ALD_TENSOR_OTHER,
} AldTensorPlace;

/* The facts about a tensor that are summed up. */
typedef struct AldTensor {
        const char *name; /* printable ASCII */
        AldTensorPlace place;
        uint32_t layer;      /* its layer, if it belongs to one */
        bool expert;         /* it holds experts, some of which a token uses */
        bool unclear;        /* it is unknown how much of it a token uses */
        uint64_t bytes;      /* less than ALD_LLM_ABSENT */
        uint64_t parameters; /* absent if unknown */
} AldTensor;

/* Sums over the tensors of all files of a model. */
typedef struct AldTensorSums {
        AldLlm *llm;                /* borrowed */
        struct ExpertSums *experts; /* of each layer */
        uint64_t names_left;        /* bytes left for further names */
        GStringChunk *names;        /* of all tensors, so that none counts twice */
        GPtrArray *sorted;          /* the names */
        bool in_layers;             /* some tensor belongs to a layer */
} AldTensorSums;

#define ALD_TENSOR_NAME_MAX 256u
#define ALD_TENSOR_NAMES_BYTES (32u * 1024 * 1024)
#define ALD_TENSORS_MAX (1024u * 1024)

void ald_tensor_sums_init(AldTensorSums *sums, AldLlm *llm);
void ald_tensor_sums_clear(AldTensorSums *sums);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldTensorSums, ald_tensor_sums_clear)

/* Adds a tensor. On error, *ret_reason is a static text: -E2BIG for too many tensors, -ERANGE for sums that
 * are too large. */
int ald_tensor_sums_add(AldTensorSums *sums, const AldTensor *tensor, const char **ret_reason);

/* Adds parameters of a layer that could not be counted when their tensor was added. */
int ald_tensor_sums_count(
        AldTensorSums *sums, uint32_t layer, bool expert, uint64_t parameters, const char *name);

/* Returns the name of the last tensor that was added, which lives as long as the sums. */
const char *ald_tensor_sums_last(const AldTensorSums *sums);

/* Sets what one token uses, from the numbers of experts in the model. Returns -EBADMSG if a name occurred
 * twice, which *ret_twice is set to and which lives as long as the sums, or if no tensor belongs to a layer,
 * when *ret_twice is NULL. */
int ald_tensor_sums_finish(AldTensorSums *sums, const char **ret_twice);
