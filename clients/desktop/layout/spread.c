/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "clients/desktop/layout/packing.h"
#include "clients/desktop/layout/spread.h"

#define ROUNDS 300u
/* Points that still are too near after all rounds are separated by enlarging everything, by this factor at
 * most. */
#define MAX_SCALE 2.0

double ald_points_scale_apart(const AldVector *points, size_t n, AldVector unit)
{
        double scale = 1;

        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) {
                        AldVector way = ald_vector_sub(points[j], points[i]);
                        double apart = MAX(fabs(way.x) / unit.x, fabs(way.y) / unit.y);

                        scale = MAX(scale, apart > 0 ? 1 / apart : INFINITY);
                }
        return scale;
}

/* Moves each point of a pair by half of the missing distance, in the direction in which less is missing. */
static bool push_pair_apart(AldVector *move, const AldVector *points, size_t i, size_t j, AldVector unit)
{
        AldVector way = ald_vector_sub(points[j], points[i]);
        double missing_x = unit.x - fabs(way.x), missing_y = unit.y - fabs(way.y);

        if (missing_x <= 1e-6 || missing_y <= 1e-6)
                return false;
        if (missing_x / unit.x < missing_y / unit.y) {
                double by = (way.x < 0 ? -missing_x : missing_x) * 0.5;

                move[i].x -= by;
                move[j].x += by;
        } else {
                double by = (way.y < 0 ? -missing_y : missing_y) * 0.5;

                move[i].y -= by;
                move[j].y += by;
        }
        return true;
}

static bool push_all_apart(AldVector *points, size_t n, AldVector unit)
{
        g_autofree AldVector *move = g_new0(AldVector, n);
        bool pushed = false;

        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++)
                        pushed |= push_pair_apart(move, points, i, j, unit);
        for (size_t i = 0; i < n; i++)
                points[i] = ald_vector_add(points[i], ald_vector_scale(move[i], 0.8));
        return pushed;
}

static void place_in_rows(AldVector *points, size_t n, AldVector unit, double aspect)
{
        size_t columns = ald_best_columns(n, unit.x, unit.y, aspect);

        for (size_t i = 0; i < n; i++)
                points[i] = (AldVector){ i % columns * unit.x, i / columns * unit.y };
}

void ald_points_spread(AldVector *points, size_t n, AldVector unit, double aspect)
{
        unsigned round = 0;
        double scale;

        while (round < ROUNDS && push_all_apart(points, n, unit))
                round++;
        scale = ald_points_scale_apart(points, n, unit);
        /* This also catches NaN. */
        if (!(scale <= MAX_SCALE)) {
                place_in_rows(points, n, unit, aspect);
                return;
        }
        for (size_t i = 0; i < n; i++)
                points[i] = ald_vector_scale(points[i], scale);
}
