/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/export/export-state.h"

/* The properties by which schedulers may choose a node. Figures that are old, or that the probe does not
 * trust, are omitted as if they were not measured. */
typedef struct AldNodeFeatures {
        GPtrArray *vendors;                        /* of GPUs, as words such as "nvidia"; unique and sorted */
        bool infiniband, roce, iwarp, thunderbolt; /* usable ports */
        double read_bytes_per_second;              /* of memory, by the fastest device; NAN: not measured */
        double tflops;                             /* FP16, likewise */
        double net_bits_per_second; /* to the node that it reaches fastest, the slower direction */
        uint64_t oldest_usec;       /* the oldest of these figures; absent if there are none */
} AldNodeFeatures;

void ald_node_features_init(AldNodeFeatures *features, const AldExportState *state, unsigned index);
void ald_node_features_clear(AldNodeFeatures *features);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldNodeFeatures, ald_node_features_clear)

/* Returns the greatest usual speed of networks of which a rate is at least 90 %, such as "25g"; NULL below 1
 * Gb/s. */
const char *ald_net_class(double bits_per_second);

/* Returns the greatest of 1, 2, 5, 10, 20, 50, … that is not above a figure; 0 below 1. */
unsigned ald_figure_class(double figure);
