/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/lines.h"

/* Lines after this many in the order of ranks have no labels. */
#define ALD_LABELS_MAX_LINES 1024u

typedef enum AldLabelKind {
        ALD_LABEL_TO_B,   /* the rate of a→b, near the arrow head at b */
        ALD_LABEL_TO_A,   /* the rate of b→a, near the arrow head at a */
        ALD_LABEL_MIDDLE, /* near the middle of the line */
        ALD_N_LABEL_KINDS,
} AldLabelKind;

typedef struct AldLabelsInput {
        const AldBox *cards;
        size_t n_cards;
        AldBox bounds;        /* labels stay within it */
        const AldLine *lines; /* that labels belong to or avoid; without those that are drawn faintly */
        size_t n_lines;
        const AldVector (*sizes)[ALD_N_LABEL_KINDS]; /* by line; 0, 0: no such label */
        const unsigned *ranks;                       /* by line: the least comes first; NULL: all are equal */
        const bool *marked; /* by line: whether a mark is drawn in its middle; NULL: none */
} AldLabelsInput;

typedef struct AldLabel {
        AldBox box;
        bool shown;
} AldLabel;

/*
 * Places labels on their lines, or else beside them and clearly nearer to them than to others. Rates are on
 * the side away from the middle of the picture, the middle label is on the other side; the labels of the
 * outer of several lanes are all on the outer side. Shown labels overlap neither each other nor cards; they
 * cover arrow heads and marks only if there is no other place, and the lines of others as little as possible.
 *
 * The order is by rank, then by index, then by kind. A label that was shown is never hidden for one that
 * comes later in this order, but may move for it. So whether a label is shown does not depend on which labels
 * the later lines have.
 */
void ald_labels_place(const AldLabelsInput *input, AldLabel (*ret_labels)[ALD_N_LABEL_KINDS]);
