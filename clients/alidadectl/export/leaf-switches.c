/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clients/alidadectl/export/leaf-switches.h"

#define FAST_SHARE 0.5

static int compare_pairs(const void *x, const void *y)
{
        const AldLeafPair *a = x, *b = y;

        if (a->rate != b->rate)
                return a->rate > b->rate ? -1 : 1;
        if (a->a != b->a)
                return a->a < b->a ? -1 : 1;
        return a->b < b->b ? -1 : a->b > b->b;
}

static bool is_fast(const AldLeafPair *pair, const double *best)
{
        return pair->rate >= FAST_SHARE * fmax(best[pair->a], best[pair->b]);
}

static bool joins_leaves(const AldLeafPair *pair, const unsigned *leaf_of, unsigned x, unsigned y)
{
        unsigned a = leaf_of[pair->a], b = leaf_of[pair->b];

        return (a == x && b == y) || (a == y && b == x);
}

/* Returns true if no pair between two leaves is slow. */
static bool all_fast(const AldLeafPair *pairs, size_t n_pairs, const double *best, const unsigned *leaf_of,
        unsigned x, unsigned y)
{
        for (size_t i = 0; i < n_pairs; i++)
                if (joins_leaves(&pairs[i], leaf_of, x, y) && !is_fast(&pairs[i], best))
                        return false;
        return true;
}

unsigned *ald_leaf_switches(AldLeafPair *pairs, size_t n_pairs, unsigned n_nodes)
{
        g_autofree double *best = g_new0(double, n_nodes);
        unsigned *leaf_of = g_new(unsigned, n_nodes);

        qsort(pairs, n_pairs, sizeof(*pairs), compare_pairs);
        for (unsigned i = 0; i < n_nodes; i++)
                leaf_of[i] = i;
        for (size_t i = 0; i < n_pairs; i++) {
                best[pairs[i].a] = fmax(best[pairs[i].a], pairs[i].rate);
                best[pairs[i].b] = fmax(best[pairs[i].b], pairs[i].rate);
        }
        for (size_t i = 0; i < n_pairs; i++) {
                unsigned a = leaf_of[pairs[i].a], b = leaf_of[pairs[i].b];

                if (a == b || !is_fast(&pairs[i], best) || !all_fast(pairs, n_pairs, best, leaf_of, a, b))
                        continue;
                for (unsigned k = 0; k < n_nodes; k++)
                        if (leaf_of[k] == MAX(a, b))
                                leaf_of[k] = MIN(a, b);
        }
        return leaf_of;
}
