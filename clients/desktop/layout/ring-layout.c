/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "clients/desktop/layout/ring-layout.h"

/* Samples per half ellipse. */
#define SAMPLES 180u
/* The factors by which the height grows in the coarse and the fine search, and the limit of steps in each. */
#define COARSE 1.2
#define FINE 1.01
#define MAX_STEPS 60u

/* Returns a value between the Euclidean distance, sqrt(x² + y²), which suits diagonals, and max(x, y), which
 * suits cards side by side. */
static double distance(AldVector from, AldVector to, AldVector unit)
{
        double x = fabs(to.x - from.x) / unit.x, y = fabs(to.y - from.y) / unit.y;

        return MAX(x, y) + MIN(x, y) / 4;
}

/* Places n points on an ellipse of these radii, as ald_ring_fit() describes. */
static void place_on_ellipse(size_t n, AldVector radius, AldVector unit, AldVector *ret_points)
{
        AldVector samples[SAMPLES + 1] = { { 0, -radius.y } };
        double way[SAMPLES + 1] = { 0 };
        unsigned at = 0;

        for (unsigned i = 1; i <= SAMPLES; i++) {
                double angle = G_PI * i / SAMPLES;

                samples[i] = (AldVector){ radius.x * sin(angle), -radius.y * cos(angle) };
                way[i] = way[i - 1] + distance(samples[i - 1], samples[i], unit);
        }
        /* One half is the exact mirror image of the other. */
        for (size_t i = 0; i <= n / 2 && i < n; i++) {
                double wanted = way[SAMPLES] * 2 * i / n, part;

                while (at < SAMPLES - 1 && way[at + 1] < wanted)
                        at++;
                part = way[at + 1] > way[at] ? (wanted - way[at]) / (way[at + 1] - way[at]) : 0;
                ret_points[i] = ald_vector_mix(samples[at], samples[at + 1], part);
                if (i > 0 && i < n - i)
                        ret_points[n - i] = (AldVector){ -ret_points[i].x, ret_points[i].y };
        }
}

/* Multiplies the height of the outline by a factor until the cards have room. Returns the last height. */
static double grow_until_room(
        const AldRingFit *fit, size_t n, double height, double by, AldVector *ret_centers)
{
        for (unsigned i = 0; i < MAX_STEPS; i++, height *= by) {
                AldVector radius = { MAX(height * fit->aspect - fit->card.x, 0) / 2,
                        MAX(height - fit->card.y, 0) / 2 };

                place_on_ellipse(n, radius, fit->unit, ret_centers);
                if (fit->has_room(ret_centers, n, fit->card, fit->userdata))
                        break;
        }
        return height;
}

void ald_ring_fit(const AldRingFit *fit, size_t n, AldVector *ret_centers)
{
        double height = grow_until_room(
                fit, n, MAX(fit->card.y, fit->card.x / fit->aspect), COARSE, ret_centers);

        grow_until_room(fit, n, height / COARSE, FINE, ret_centers);
}
