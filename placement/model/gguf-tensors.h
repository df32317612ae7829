/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/file-head.h"
#include "placement/model/layer-signs.h"
#include "placement/model/tensor-sums.h"

/* The table of tensors that follows the keys. After the layers of the model there may be draft_layers that
 * only predict further tokens. */
typedef struct AldGgufTable {
        uint64_t n; /* tensors */
        uint32_t alignment, draft_layers;
} AldGgufTable;

/* Reads the table, checks that the file holds the data of its tensors, and notes what they show about
 * layers. */
int ald_gguf_tensors_read(
        AldFileHead *head, const AldGgufTable *of, AldTensorSums *sums, AldLayerSigns *signs);
