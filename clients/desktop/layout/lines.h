/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/* The distance between parallel lines of two cards. */
#define ALD_LANE_GAP 12.0
/* The distance between a card and the tip of an arrow. */
#define ALD_LINE_GAP 3.0

/* The cards that a line joins. Lines between the same two cards have lanes 0 to n_lanes - 1. */
typedef struct AldLineEnds {
        unsigned a, b;
        unsigned lane, n_lanes;
} AldLineEnds;

typedef struct AldLine {
        AldVector start, end; /* beside card a and beside card b; the same if there is no room for a line */
        AldVector control;    /* of the quadratic curve between them; halfway if it is straight */
        AldVector start_direction, end_direction; /* unit vectors from a to b, where it starts and ends */
        bool curved;
        int side; /* -1 or 1: this lane lies to the left or right of the way from a to b; 0: in the middle */
} AldLine;

/*
 * Routes lines between cards. Lanes keep their places if a and b are exchanged. A line that would cross
 * another card goes round it, on the side where the way is shorter, if that can be done with a single curve;
 * with more than 64 cards all lines are straight. A line gets no length if an end is not a card, or its cards
 * overlap.
 */
void ald_lines_route(
        const AldBox *cards, size_t n_cards, const AldLineEnds *ends, size_t n_lines, AldLine *ret_lines);

AldVector ald_line_point(const AldLine *line, double t);
AldVector ald_line_direction(const AldLine *line, double t);
