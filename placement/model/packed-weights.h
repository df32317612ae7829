/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/hf-keys.h"
#include "placement/model/safetensors-file.h"
#include "placement/model/tensor-sums.h"

/* Counts the parameters in tensors of quantized layers, where several share an element. How many do depends
 * on config.json, or on the shapes of other tensors of the same layer, so they are counted at the end. */
typedef struct AldPackedWeights {
        json_t *config;  /* borrowed; NULL if not stated */
        GArray *weights; /* whose number of parameters is not yet known */
        GArray *beside;  /* scales and the like */
        bool has_odd_bytes, has_paired_experts;
} AldPackedWeights;

void ald_packed_weights_init(AldPackedWeights *packed, const AldHfKeys *keys);
void ald_packed_weights_clear(AldPackedWeights *packed);

/* Returns whether the parameters of the tensor must be counted later. If not, *ret is their number, absent if
 * it cannot be known. Scales and the like have none. */
bool ald_packed_weights_is_deferred(
        const AldPackedWeights *packed, const AldSafetensor *tensor, uint64_t *ret);

/* Returns the rows of the matrix before it was packed, or the length of a vector; ALD_LLM_ABSENT_COUNT if
 * unknown. */
uint32_t ald_packed_weights_rows(const AldPackedWeights *packed, const AldSafetensor *tensor);

/* Remembers a tensor that is counted later, or that may show how others are packed. `name` belongs to the
 * sums. */
void ald_packed_weights_note(
        AldPackedWeights *packed, const AldSafetensor *tensor, const AldTensor *added, const char *name);

/* Adds the remembered tensors to the sums. */
int ald_packed_weights_finish(AldPackedWeights *packed, AldTensorSums *sums);
