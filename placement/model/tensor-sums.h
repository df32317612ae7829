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

/* What is counted of a tensor. */
typedef struct AldTensor {
        const char *name; /* printable ASCII */
        AldTensorPlace place;
        uint32_t layer;      /* if it is of one */
        bool expert;         /* holds experts, of which a token uses some */
        bool unclear;        /* what one token uses of it is not known */
        uint64_t bytes;      /* less than ALD_LLM_ABSENT */
        uint64_t parameters; /* absent: not known */
} AldTensor;

/* Sums over the tensors of all files of a model. */
typedef struct AldTensorSums {
        AldLlm *llm;                /* borrowed */
        struct ExpertSums *experts; /* of each layer */
        uint64_t names_left;        /* bytes that further names may have */
        GStringChunk *names;        /* so that no tensor counts twice */
        GPtrArray *sorted;          /* these */
        bool in_layers;             /* some tensor is of a layer */
} AldTensorSums;

#define ALD_TENSOR_NAME_MAX 256u
#define ALD_TENSOR_NAMES_BYTES (32u * 1024 * 1024)
#define ALD_TENSORS_MAX (1024u * 1024)

void ald_tensor_sums_init(AldTensorSums *sums, AldLlm *llm);
void ald_tensor_sums_clear(AldTensorSums *sums);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldTensorSums, ald_tensor_sums_clear)

/* On error, *ret_reason is a static text: -E2BIG for too many tensors, -ERANGE for sums that are too big. */
int ald_tensor_sums_add(AldTensorSums *sums, const AldTensor *tensor, const char **ret_reason);

/* Adds parameters to a layer that could not be counted when their tensor was added. */
int ald_tensor_sums_count(
        AldTensorSums *sums, uint32_t layer, bool expert, uint64_t parameters, const char *name);

/* The name of the tensor that was added last, which lives as long as the sums. */
const char *ald_tensor_sums_last(const AldTensorSums *sums);

/* Sets what one token uses, from the numbers of experts in the model. -EBADMSG if a name occurred twice,
 * which is then *ret_twice and lives as long as the sums, or if no tensor is of a layer; *ret_twice is then
 * NULL. */
int ald_tensor_sums_finish(AldTensorSums *sums, const char **ret_twice);
