/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/safetensors-file.h"
#include "placement/model/tensor-sums.h"

/* Counts the parameters in tensors of quantized layers, several of which share an element. How many depends
 * on config.json, or on the shapes of other tensors of the same layer, and so is found out last of all. */
typedef struct AldPackedWeights {
        json_t *config;  /* borrowed; NULL: not stated */
        GArray *weights; /* of which the number is not yet known */
        GArray *beside;  /* scales and the like */
        bool has_odd_bytes, has_paired_experts;
} AldPackedWeights;

void ald_packed_weights_init(AldPackedWeights *packed, const AldHfKeys *keys);
void ald_packed_weights_clear(AldPackedWeights *packed);

/* True if its parameters have to be counted later; else *ret is their number, which is absent if it cannot be
 * known. Scales and the like have none. */
bool ald_packed_weights_wait(const AldPackedWeights *packed, const AldSafetensor *tensor, uint64_t *ret);

/* Rows of the matrix before it was packed, or the length of a vector; ALD_LLM_ABSENT_COUNT: not known. */
uint32_t ald_packed_weights_rows(const AldPackedWeights *packed, const AldSafetensor *tensor);

/* Remembers one that has to wait, or that may say how others are packed; the sums keep its name. */
void ald_packed_weights_note(
        AldPackedWeights *packed, const AldSafetensor *tensor, const AldTensor *added, const char *name);

/* Adds to the sums what had to wait. */
int ald_packed_weights_finish(AldPackedWeights *packed, AldTensorSums *sums);
