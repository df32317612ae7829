/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/file-head.h"
#include "placement/model/tensor-sums.h"

/* Reads the table of n tensors that follows the keys, and checks that the file holds their data. The layers
 * of the model may be followed by draft_layers that only predict further tokens. */
int ald_gguf_tensors_read(
        AldFileHead *head, uint64_t n, uint32_t alignment, uint32_t draft_layers, AldTensorSums *sums);
