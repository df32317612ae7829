/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/desktop/layout/graph-positions.h"
#include "clients/desktop/layout/packing.h"
#include "clients/desktop/layout/ring-layout.h"
#include "clients/desktop/layout/spread.h"
#include "clients/desktop/layout/stress.h"

#define CARD_GAP 40.0
#define PART_GAP 72.0
/* The length of an edge, as a multiple of a card with its gap. */
#define EDGE 1.15
/* The number of angles that are tried for a drawing. */
#define TURNS 180u
/* A drawing at least this many times longer than wide keeps its long axis, unless it needs less than this
 * part of the height at another angle. */
#define LONG 1.15
#define WORTH_TURNING 0.78
/* A later angle replaces the best one so far if it needs less than this part of its height. */
#define WORTH_TURNING_MORE 0.995
/* A drawing is stretched by no more than this factor. */
#define MAX_STRETCH 1.5

/* A connected part of the graph. */
typedef struct Part {
        size_t n;
        size_t nodes[ALD_GRAPH_NODES];
        AldVector centers[ALD_GRAPH_NODES];
} Part;

/* Returns an n × n matrix. Without any edge nothing is known yet; most likely all nodes will be connected, so
 * all are adjacent then. */
static bool *make_adjacent(const AldPositionsInput *input)
{
        size_t n = input->n_nodes;
        bool *adjacent = g_new0(bool, n *n), any = false;

        for (size_t i = 0; i < input->n_edges; i++) {
                size_t a = input->edges[i].a, b = input->edges[i].b;

                if (a < n && b < n && a != b)
                        any = adjacent[a * n + b] = adjacent[b * n + a] = true;
        }
        for (size_t i = 0; i < n * n && !any; i++)
                adjacent[i] = i % (n + 1) != 0;
        return adjacent;
}

/* Adds all nodes that can be reached from those of a part. */
static void complete_part(const bool *adjacent, size_t n, bool *seen, Part *part)
{
        for (size_t at = 0; at < part->n; at++)
                for (size_t i = 0; i < n; i++)
                        if (!seen[i] && adjacent[part->nodes[at] * n + i]) {
                                seen[i] = true;
                                part->nodes[part->n++] = i;
                        }
}

static int compare_nodes(gconstpointer a, gconstpointer b)
{
        const size_t *left = a, *right = b;

        return *left < *right ? -1 : *left > *right;
}

static int compare_parts(gconstpointer a, gconstpointer b)
{
        const Part *left = a, *right = b;

        if (left->n != right->n)
                return left->n > right->n ? -1 : 1;
        return compare_nodes(&left->nodes[0], &right->nodes[0]);
}

/* Returns the connected parts, the largest first. */
static GArray *list_parts(const bool *adjacent, size_t n)
{
        GArray *parts = g_array_new(FALSE, TRUE, sizeof(Part));
        bool seen[ALD_GRAPH_NODES] = { 0 };

        for (size_t i = 0; i < n; i++) {
                Part part = { .n = 1, .nodes = { i } };

                if (seen[i])
                        continue;
                seen[i] = true;
                complete_part(adjacent, n, seen, &part);
                qsort(part.nodes, part.n, sizeof(*part.nodes), compare_nodes);
                g_array_append_val(parts, part);
        }
        g_array_sort(parts, compare_parts);
        return parts;
}

static bool is_apart(const AldVector *centers, size_t n, AldVector card, const void *userdata)
{
        return ald_points_scale_apart(centers, n, *(const AldVector *) userdata) <= 1;
}

static void rotate_points(AldVector *points, size_t n, double angle)
{
        double cosine = cos(angle), sine = sin(angle);

        for (size_t i = 0; i < n; i++)
                points[i] = (AldVector){ points[i].x * cosine - points[i].y * sine,
                        points[i].x * sine + points[i].y * cosine };
}

/* Returns the height of the smallest window that shows a drawing after it was turned. */
static double turned_height(
        const AldVector *points, size_t n, double angle, AldVector card, AldVector unit, double aspect)
{
        AldBox boxes[ALD_GRAPH_NODES], bounds;
        AldVector turned[ALD_GRAPH_NODES];

        memcpy(turned, points, n * sizeof(*points));
        rotate_points(turned, n, angle);
        for (size_t i = 0; i < n; i++)
                boxes[i] = ald_box_around(
                        (AldVector){ turned[i].x * unit.x, turned[i].y * unit.y }, card.x, card.y);
        bounds = ald_boxes_bounds(boxes, n);
        return MAX(bounds.height, bounds.width / aspect);
}

/* Returns the angle of the direction in which points are farthest apart, and how much farther than across it.
 */
static double find_long_axis(const AldVector *points, size_t n, double *ret_ratio)
{
        double xx = 0, xy = 0, yy = 0, root;

        for (size_t i = 0; i < n; i++) {
                xx += points[i].x * points[i].x;
                xy += points[i].x * points[i].y;
                yy += points[i].y * points[i].y;
        }
        root = hypot((xx - yy) / 2, xy);
        *ret_ratio = sqrt(((xx + yy) / 2 + root) / MAX((xx + yy) / 2 - root, 1e-9));
        return 0.5 * atan2(2 * xy, xx - yy);
}

/*
 * Turns a drawing so that its long axis is the one of the window, or else so that it appears largest, with
 * its first node in the upper or left half.
 */
static void orient_points(AldVector *points, size_t n, AldVector card, AldVector unit, double aspect)
{
        double ratio, best = (aspect < 1 ? G_PI / 2 : 0) - find_long_axis(points, n, &ratio);
        double best_height = turned_height(points, n, best, card, unit, aspect);

        best_height *= ratio < LONG ? 1 : WORTH_TURNING;
        for (unsigned i = 0; i < TURNS; i++) {
                double angle = G_PI * i / TURNS, height = turned_height(points, n, angle, card, unit, aspect);

                if (height < best_height) {
                        best_height = height * WORTH_TURNING_MORE;
                        best = angle;
                }
        }
        rotate_points(points, n, best);
        if (aspect < 1 ? points[0].y > 0 : points[0].x > 0)
                rotate_points(points, n, G_PI);
}

/* Converts lengths of edges to pixels, and stretches the drawing a little towards the shape of the window. */
static void scale_to_pixels(AldVector *points, size_t n, AldVector card, AldVector unit, double aspect)
{
        AldBox bounds = { 0 };
        double stretch;

        for (size_t i = 0; i < n; i++) {
                points[i] = (AldVector){ points[i].x * unit.x * EDGE, points[i].y * unit.y * EDGE };
                bounds = ald_box_join(&bounds, &(AldBox){ points[i].x, points[i].y, 0, 0 });
        }
        stretch = (bounds.height + card.y) * aspect / (bounds.width + card.x);
        for (size_t i = 0; i < n; i++) {
                points[i].x *= CLAMP(stretch, 1, MAX_STRETCH);
                points[i].y *= CLAMP(1 / stretch, 1, MAX_STRETCH);
        }
}

/* Returns the room for one card. With fewer cards, more labels are expected to be visible between them. */
static AldVector card_unit(const AldPositionsInput *input)
{
        double part = (double) (ALD_GRAPH_NODES - input->n_nodes) / (ALD_GRAPH_NODES - ALD_RING_NODES);

        return (AldVector){ input->card_width + CARD_GAP + part * input->label_width,
                input->card_height + CARD_GAP + part * input->label_height };
}

static void place_part(Part *part, const bool *adjacent, const AldPositionsInput *input)
{
        AldVector card = { input->card_width, input->card_height }, unit = card_unit(input);
        AldRingFit fit = { card, unit, input->aspect, is_apart, &unit };
        g_autofree bool *inner = g_new(bool, part->n * part->n);

        if (part->n < 2)
                return;
        for (size_t i = 0; i < part->n * part->n; i++)
                inner[i] = adjacent[part->nodes[i / part->n] * input->n_nodes + part->nodes[i % part->n]];
        if (ald_stress_points(inner, part->n, part->centers)) {
                ald_ring_fit(&fit, part->n, part->centers);
                return;
        }
        orient_points(part->centers, part->n, card, unit, input->aspect);
        scale_to_pixels(part->centers, part->n, card, unit, input->aspect);
        ald_points_spread(part->centers, part->n, unit, input->aspect);
}

static AldBox part_bounds(const Part *part, const AldPositionsInput *input)
{
        AldBox bounds = { 0 };

        for (size_t i = 0; i < part->n; i++) {
                AldBox card = ald_box_around(part->centers[i], input->card_width, input->card_height);

                bounds = i == 0 ? card : ald_box_join(&bounds, &card);
        }
        return bounds;
}

void ald_graph_positions_place(AldPositions *positions, const AldPositionsInput *input)
{
        g_autofree bool *adjacent = make_adjacent(input);
        g_autoptr(GArray) parts = list_parts(adjacent, input->n_nodes);
        g_autofree AldBox *outlines = g_new(AldBox, parts->len);

        for (guint i = 0; i < parts->len; i++) {
                place_part(&g_array_index(parts, Part, i), adjacent, input);
                outlines[i] = part_bounds(&g_array_index(parts, Part, i), input);
        }
        ald_boxes_pack(outlines, parts->len, PART_GAP, input->aspect);
        for (guint i = 0; i < parts->len; i++) {
                const Part *part = &g_array_index(parts, Part, i);
                AldBox from = part_bounds(part, input);
                AldVector by = { outlines[i].x - from.x, outlines[i].y - from.y };

                for (size_t j = 0; j < part->n; j++)
                        positions->cards[part->nodes[j]] = ald_box_around(
                                ald_vector_add(part->centers[j], by), input->card_width, input->card_height);
        }
}
