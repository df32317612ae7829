/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/topology/matrix-cells.h"

/* Captions of segments beside the matrix, and above it where they fit. */

/* Along a side of the matrix, in pixels from its beginning. */
typedef struct AldCaption {
        double at, length;
        bool shown;
} AldCaption;

/*
 * Segment i extends from bounds[i] to bounds[i + 1]; bounds[0] is 0, and bounds[n] the length of the side.
 * Its caption wants `wanted[i]`, and has at least `line`. Captions stand in the order of their segments, as
 * near to the middle of these as possible, and do not overlap. Without room for all, those of the smallest
 * segments are left out.
 */
void ald_captions_place(
        const double *bounds, const double *wanted, guint n, double line, AldCaption *ret_captions);

/* Where they are in a widget. */
typedef struct AldCaptionRoom {
        double x, y;          /* where cells begin, or the names of nodes before them */
        double left, above;   /* of x and of y; 0: none there */
        double first_x, cell; /* of the cells */
        double first_y;
} AldCaptionRoom;

/* The room that they want at the left, if so much would be empty anyway, and above for segments of so many
 * pixels; 0: none. */
double ald_captions_left(const AldMatrixCells *cells, double empty);
double ald_captions_above(const AldMatrixCells *cells, GtkWidget *widget, double size);

void ald_captions_append(
        GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells, const AldCaptionRoom *room);
