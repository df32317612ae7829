/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* What schedulers may choose a node by. Figures that are old, or that the probe does not trust, are left out
 * as if they were not measured. */
typedef struct AldNodeFeatures {
        GPtrArray *vendors;                        /* of GPUs, as words: "nvidia"; each once, sorted */
        bool infiniband, roce, iwarp, thunderbolt; /* usable ports */
        double read_bytes_per_second;              /* of memory, by the fastest device; NAN: not measured */
        double tflops;                             /* fp16, the same */
        double net_bits_per_second; /* to the node that it reaches fastest, the slower direction */
        uint64_t oldest_usec;       /* of these figures; absent if there are none */
} AldNodeFeatures;

void ald_node_features_init(AldNodeFeatures *features, const AldExportState *state, unsigned index);
void ald_node_features_clear(AldNodeFeatures *features);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldNodeFeatures, ald_node_features_clear)

/* "25g": the greatest usual speed of networks of which a rate is at least 90 %; NULL below 1 Gb/s. */
const char *ald_net_class(double bits_per_second);

/* The greatest of 1, 2, 5, 10, 20, 50, … that is not above a figure; 0 below 1. */
unsigned ald_figure_class(double figure);
