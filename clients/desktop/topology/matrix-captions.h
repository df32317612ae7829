/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/topology/matrix-cells.h"

/* Captions of segments, placed at the left of the matrix, and above it where they fit. */

/* The place of a caption along a side of the matrix, in pixels from its beginning. */
typedef struct AldCaption {
        double at, length;
        bool shown;
} AldCaption;

/*
 * Places captions along a side. Segment i extends from bounds[i] to bounds[i + 1]; bounds[0] is 0, and
 * bounds[n] the length of the side. Its caption gets a length of up to `wanted[i]`, and at least `line`.
 * Captions stand in the order of their segments, as near to the middle of these as possible, and do not
 * overlap. Without room for all, those of the smallest segments are not shown.
 */
void ald_captions_place(
        const double *bounds, const double *wanted, guint n, double line, AldCaption *ret_captions);

/* Where the captions are in a widget, in pixels. */
typedef struct AldCaptionRoom {
        double x, y;          /* where the cells begin, or the names of nodes before them */
        double left, above;   /* room at the left of x, and above y; 0: no captions there */
        double first_x, cell; /* the first cell, and the size of a cell */
        double first_y;
} AldCaptionRoom;

/* Return the room that captions need at the left, where `empty` pixels would be unused anyway, and above a
 * matrix of `size` pixels; 0 for none. */
double ald_captions_left(const AldMatrixCells *cells, double empty);
double ald_captions_above(const AldMatrixCells *cells, GtkWidget *widget, double size);

void ald_captions_append(
        GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells, const AldCaptionRoom *room);
