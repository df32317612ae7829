/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "clients/desktop/layout/geometry.h"

/* Up to this many nodes stand on a ring; up to this many are placed by their connections. */
#define ALD_RING_NODES 8u
#define ALD_GRAPH_NODES 24u

/* The height of the caption in the frame of a group. */
#define ALD_GROUP_CAPTION 32.0

typedef struct AldCardPair {
        unsigned a, b;
} AldCardPair;

typedef struct AldPositionsInput {
        size_t n_nodes; /* in the order of their names */
        double card_width, card_height;
        double label_width, label_height; /* of the largest usual label; 0, 0: lines have no labels */
        double aspect;                    /* of the window, width / height */
        const AldCardPair *edges;         /* only used for 9 to 24 nodes; in any order, duplicates allowed */
        size_t n_edges;
        const unsigned *groups; /* by node, used above 24 nodes; or NULL */
} AldPositionsInput;

typedef struct AldPositionsGroup {
        unsigned number;
        size_t n_nodes;
        AldBox frame; /* around the cards, with a caption above them */
} AldPositionsGroup;

typedef struct AldPositions {
        size_t n_cards;
        AldBox *cards; /* by node, at whole pixels */
        size_t n_groups;
        AldPositionsGroup *groups; /* by number; none without groups, or for up to 24 nodes */
        AldBox bounds;             /* includes a margin; begins at 0, 0 */
} AldPositions;

/*
 * Places cards in a picture of zoom 1. For up to 8 nodes the positions follow from their number alone, beyond
 * that also from which of them are connected; measured values do not matter. Cards never overlap. Sizes that
 * are not positive numbers are replaced by usual ones.
 */
AldPositions *ald_positions_new(const AldPositionsInput *input);
void ald_positions_free(AldPositions *positions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPositions, ald_positions_free)
