/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "clients/desktop/layout/geometry.h"

double ald_vector_length(AldVector vector)
{
        /* hypot() would be exact beyond what can be drawn, and is slow. */
        return sqrt(vector.x * vector.x + vector.y * vector.y);
}

AldVector ald_vector_unit(AldVector vector)
{
        double length = ald_vector_length(vector);

        if (!isfinite(length) || length < 1e-9)
                return (AldVector){ 1, 0 };
        return ald_vector_scale(vector, 1 / length);
}

AldBox ald_box_grow(const AldBox *box, double by)
{
        return (AldBox){ box->x - by, box->y - by, box->width + 2 * by, box->height + 2 * by };
}

AldBox ald_box_join(const AldBox *a, const AldBox *b)
{
        double x = MIN(a->x, b->x), y = MIN(a->y, b->y);

        return (AldBox){ x, y, MAX(a->x + a->width, b->x + b->width) - x,
                MAX(a->y + a->height, b->y + b->height) - y };
}

AldBox ald_boxes_bounds(const AldBox *boxes, size_t n)
{
        AldBox bounds = { 0 };

        for (size_t i = 0; i < n; i++)
                bounds = i == 0 ? boxes[i] : ald_box_join(&bounds, &boxes[i]);
        return bounds;
}

bool ald_box_is_valid(const AldBox *box)
{
        return isfinite(box->x) && isfinite(box->y) && isfinite(box->width) && isfinite(box->height) &&
               box->width >= 0 && box->height >= 0;
}

/* Narrows a part of a segment to where it lies between two parallel lines. Returns false if nothing is left.
 */
static bool clip_axis(double from, double by, double least, double most, double *enter, double *leave)
{
        double first, second;

        if (by == 0)
                return from >= least && from <= most;
        first = (least - from) / by;
        second = (most - from) / by;
        *enter = MAX(*enter, MIN(first, second));
        *leave = MIN(*leave, MAX(first, second));
        return *enter <= *leave;
}

bool ald_box_clip(const AldBox *box, AldVector from, AldVector to, double *ret_enter, double *ret_leave)
{
        double enter = 0, leave = 1;

        if (!clip_axis(from.x, to.x - from.x, box->x, box->x + box->width, &enter, &leave) ||
                !clip_axis(from.y, to.y - from.y, box->y, box->y + box->height, &enter, &leave))
                return false;
        *ret_enter = enter;
        *ret_leave = leave;
        return true;
}
