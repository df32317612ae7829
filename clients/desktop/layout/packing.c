/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "clients/desktop/layout/packing.h"

/* The number of widths that are tried, from the width of the widest box to that of all boxes in one row. */
#define TRIES 64u

/* Arranges boxes in rows of up to this width. */
static void fill_rows(AldBox *boxes, size_t n, double gap, double width)
{
        double x = 0, y = 0, height = 0;

        for (size_t i = 0; i < n; i++) {
                if (x > 0 && x + boxes[i].width > width) {
                        x = 0;
                        y += height + gap;
                        height = 0;
                }
                boxes[i].x = x;
                boxes[i].y = y;
                x += boxes[i].width + gap;
                height = MAX(height, boxes[i].height);
        }
}

double ald_boxes_pack(AldBox *boxes, size_t n, double gap, double aspect)
{
        double total = 0, widest = 0, best_width = 0, best = G_MAXDOUBLE;

        for (size_t i = 0; i < n; i++) {
                total += boxes[i].width + gap;
                widest = MAX(widest, boxes[i].width);
        }
        for (unsigned i = 0; i < TRIES; i++) {
                double width = widest + (total - widest) * i / (TRIES - 1), height;
                AldBox bounds;

                fill_rows(boxes, n, gap, width);
                bounds = ald_boxes_bounds(boxes, n);
                height = MAX(bounds.height, bounds.width / aspect);
                if (height < best) {
                        best = height;
                        best_width = width;
                }
        }
        fill_rows(boxes, n, gap, best_width);
        return best;
}

size_t ald_best_columns(size_t n, double width, double height, double aspect)
{
        size_t best = 1;
        double best_height = G_MAXDOUBLE;

        for (size_t columns = 1; columns <= n; columns++) {
                double needed = MAX((n + columns - 1) / columns * height, columns * width / aspect);

                if (needed < best_height) {
                        best_height = needed;
                        best = columns;
                }
        }
        return best;
}
