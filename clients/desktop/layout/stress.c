/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include <glib.h>

#include "clients/desktop/layout/stress.h"

#define ROUNDS 300u
/* Points have settled when a round reduces the stress by less than this part. */
#define SETTLED 1e-4
/* Smaller groups need no ring: the edges of three nodes already make one. */
#define LEAST_RING 4u
/* In a mesh there are at least these parts of all possible edges, and of those of each node. */
#define MESH_PART 0.6
#define MESH_LEAST_PART 0.33

/* Returns the part of their neighborhoods, themselves included, that two nodes have in common. */
static double neighborhood_overlap(const bool *adjacent, size_t n, size_t a, size_t b)
{
        size_t both = 0, any = 0;

        for (size_t i = 0; i < n; i++) {
                bool at_a = i == a || adjacent[a * n + i], at_b = i == b || adjacent[b * n + i];

                both += at_a && at_b;
                any += at_a || at_b;
        }
        return (double) both / any;
}

/* Makes a ring of the first node, which has none yet, and the nodes that belong with it. Returns its size. */
static size_t gather_ring(const bool *adjacent, size_t n, size_t first, size_t *rings)
{
        size_t size = 0;

        for (size_t i = first; i < n; i++)
                if (i == first || (rings[i] == G_MAXSIZE && adjacent[first * n + i] &&
                                          neighborhood_overlap(adjacent, n, first, i) > 0.5)) {
                        rings[i] = first;
                        size++;
                }
        return size;
}

/* Returns whether most nodes are connected to most others: missing edges of such a mesh are merely not
 * measured yet. */
static bool is_mesh(const bool *adjacent, size_t n)
{
        size_t least = n, all = 0;

        for (size_t i = 0; i < n; i++) {
                size_t degree = 0;

                for (size_t j = 0; j < n; j++)
                        degree += adjacent[i * n + j];
                least = MIN(least, degree);
                all += degree;
        }
        return n > 2 && all >= MESH_PART * n * (n - 1) && least >= MESH_LEAST_PART * (n - 1);
}

/* Sets the distances between members of a ring to those of points on a circle, with 1 between neighbors. */
static void measure_ring(size_t n, const size_t *rings, size_t ring, size_t size, double *lengths)
{
        double diameter = 1 / sin(G_PI / size);
        size_t at_i = 0;

        for (size_t i = 0; i < n; i++) {
                size_t at_j = at_i;

                if (rings[i] != ring)
                        continue;
                for (size_t j = i; j < n; j++)
                        if (rings[j] == ring) {
                                double chord = diameter * sin(G_PI * (at_j++ - at_i) / size);

                                lengths[i * n + j] = lengths[j * n + i] = chord;
                        }
                at_i++;
        }
}

static void measure_distances(const bool *adjacent, size_t n, double *lengths)
{
        g_autofree size_t *rings = g_new(size_t, n);

        for (size_t i = 0; i < n; i++)
                rings[i] = G_MAXSIZE;
        for (size_t i = 0; i < n * n; i++)
                lengths[i] = i % (n + 1) == 0 ? 0 : adjacent[i] ? 1 : INFINITY;
        for (size_t i = 0; i < n; i++) {
                size_t size = rings[i] == G_MAXSIZE ? gather_ring(adjacent, n, i, rings) : 0;

                if (size >= LEAST_RING)
                        measure_ring(n, rings, i, size, lengths);
        }
        for (size_t k = 0; k < n; k++)
                for (size_t i = 0; i < n; i++)
                        for (size_t j = 0; j < n; j++)
                                lengths[i * n + j] = MIN(
                                        lengths[i * n + j], lengths[i * n + k] + lengths[k * n + j]);
}

static double stress_of(const double *lengths, size_t n, const AldVector *points)
{
        double stress = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) {
                        double wanted = lengths[i * n + j];
                        double off = ald_vector_length(ald_vector_sub(points[j], points[i])) / wanted - 1;

                        stress += off * off;
                }
        return stress;
}

/* Moves a point to the weighted mean of the places at which it has the wanted distance to each other point.
 */
static void move_point(const double *lengths, size_t n, size_t i, AldVector *points)
{
        AldVector sum = { 0 };
        double weights = 0;

        for (size_t j = 0; j < n; j++) {
                double wanted = lengths[i * n + j], weight = 1 / (wanted * wanted);
                AldVector way, place;

                if (j == i)
                        continue;
                way = ald_vector_unit(ald_vector_sub(points[i], points[j]));
                place = ald_vector_add(points[j], ald_vector_scale(way, wanted));
                sum = ald_vector_add(sum, ald_vector_scale(place, weight));
                weights += weight;
        }
        points[i] = ald_vector_scale(sum, 1 / weights);
}

static double minimize_stress(const double *lengths, size_t n, AldVector *points)
{
        double stress = stress_of(lengths, n, points);

        for (unsigned round = 0; round < ROUNDS; round++) {
                double before = stress;

                for (size_t i = 0; i < n; i++)
                        move_point(lengths, n, i, points);
                stress = stress_of(lengths, n, points);
                if (before - stress <= SETTLED * before)
                        break;
        }
        return stress;
}

/* Lists nodes depth first: in this order, the branches of a tree do not cross. */
static size_t list_depth_first(
        const bool *adjacent, size_t n, size_t from, bool *seen, size_t *order, size_t count)
{
        seen[from] = true;
        order[count++] = from;
        for (size_t i = 0; i < n; i++)
                if (adjacent[from * n + i] && !seen[i])
                        count = list_depth_first(adjacent, n, i, seen, order, count);
        return count;
}

static void place_on_circle(const size_t *order, size_t n, AldVector *points)
{
        double radius = 0.5 / sin(G_PI / MAX(n, 2));

        for (size_t i = 0; i < n; i++) {
                double angle = 2 * G_PI * i / n;

                points[order[i]] = (AldVector){ radius * sin(angle), -radius * cos(angle) };
        }
}

static void center_points(AldVector *points, size_t n)
{
        AldVector sum = { 0 };

        for (size_t i = 0; i < n; i++)
                sum = ald_vector_add(sum, points[i]);
        for (size_t i = 0; i < n; i++)
                points[i] = ald_vector_sub(points[i], ald_vector_scale(sum, 1.0 / n));
}

bool ald_stress_points(const bool *adjacent, size_t n, AldVector *ret_points)
{
        g_autofree double *lengths = g_new(double, n *n);
        g_autofree AldVector *points = g_new(AldVector, n);
        g_autofree size_t *order = g_new(size_t, n);
        g_autofree bool *seen = g_new0(bool, n);
        double best;

        if (is_mesh(adjacent, n))
                return true;
        measure_distances(adjacent, n, lengths);
        for (size_t i = 0; i < n; i++)
                order[i] = i;
        place_on_circle(order, n, ret_points);
        best = minimize_stress(lengths, n, ret_points);
        list_depth_first(adjacent, n, 0, seen, order, 0);
        place_on_circle(order, n, points);
        if (minimize_stress(lengths, n, points) < best * 0.99)
                memcpy(ret_points, points, n * sizeof(*points));
        center_points(ret_points, n);
        return false;
}
