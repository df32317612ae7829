/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The measured rate between two nodes, given by their numbers. */
typedef struct AldLeafPair {
        unsigned a, b;
        double rate;
} AldLeafPair;

/*
 * Groups the nodes by leaf switches. A pair is fast if its rate is at least half of the best one of either of
 * its nodes. Pairs are taken from the fastest to the slowest, equal ones by their numbers; a fast pair joins
 * the leaves of its nodes unless another measured pair between the two leaves is not fast. Sorts the pairs.
 * Returns for each node the least number in its leaf, to be freed.
 */
unsigned *ald_leaf_switches(AldLeafPair *pairs, size_t n_pairs, unsigned n_nodes);
