/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cairo.h>

#include "clients/desktop/topology/drawn-lines.h"

typedef struct AldPictureStyle {
        bool dark, high_contrast;
        bool many; /* there are so many lines that faint ones must not hide the others */
} AldPictureStyle;

/* How prominently a line is drawn. */
typedef enum AldLineWeight {
        ALD_LINE_WEIGHT_FAINT,
        ALD_LINE_WEIGHT_USUAL,
        ALD_LINE_WEIGHT_SELECTED,
} AldLineWeight;

/* Returns whether there is a mark in the middle of the line: the cross of an offline line, or the triangle of
 * a finding. */
bool ald_line_has_mark(const AldDrawnLine *line);

/*
 * Draws a line with its arrow heads. Its kind and state are visible without colours: sockets are one stroke,
 * RDMA two, a cable only an outline; an unmeasured line is dashed, one that is merely possible dotted; an
 * offline line is thin and has a cross; one with a warning has a triangle.
 */
void ald_line_draw(cairo_t *cairo, const AldLine *route, const AldDrawnLine *line, AldLineWeight weight,
        const AldPictureStyle *style);
