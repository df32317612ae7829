/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>

#include "clients/desktop/topology/drawn-lines.h"

typedef struct AldPictureStyle {
        bool dark, high_contrast;
        bool many; /* lines, of which the faint ones must not hide the others */
} AldPictureStyle;

/* How much a line is to be seen. */
typedef enum AldLineWeight {
        ALD_LINE_WEIGHT_FAINT,
        ALD_LINE_WEIGHT_USUAL,
        ALD_LINE_WEIGHT_SELECTED,
} AldLineWeight;

/* Whether it has a mark in its middle: the cross of one that is offline, or the triangle of trouble. */
bool ald_line_has_mark(const AldDrawnLine *line);

/*
 * Draws a line with its arrow heads. What it is can be seen without colours: sockets are one stroke, RDMA
 * two, a cable none but its outline; what was not measured is dashed, what is only possible dotted; a line
 * that is offline is thin and has a cross; one with a warning has a triangle.
 */
void ald_line_draw(cairo_t *cairo, const AldLine *route, const AldDrawnLine *line, AldLineWeight weight,
        const AldPictureStyle *style);
