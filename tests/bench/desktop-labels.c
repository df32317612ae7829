/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random clusters of up to 16 nodes through the layout of the desktop program: how many labels of lines find
 * a place, and whether any of them covers another one or a card. */
#include <stdio.h>
#include <stdlib.h>

#include "clients/desktop/layout/labels.h"
#include "clients/desktop/layout/positions.h"

#define CLUSTERS 10000u
#define MOST_NODES 16u
#define MOST_LINES (MOST_NODES * MOST_NODES)

/* As the program measures its cards and its widest labels with GNOME's usual font. */
#define CARD_WIDTH 190.0
#define CARD_HEIGHT 126.0
#define RATE_WIDTH 92.0
#define MIDDLE_WIDTH 102.0
#define LABEL_HEIGHT 20.0

typedef struct Scene {
        unsigned n_nodes, n_lines;
        AldLineEnds ends[MOST_LINES];
        AldCardPair pairs[MOST_LINES];
        AldVector sizes[MOST_LINES][ALD_N_LABEL_KINDS];
        unsigned ranks[MOST_LINES];
} Scene;

typedef struct Count {
        unsigned labels, shown;
} Count;

static void add_line(Scene *scene, GRand *random, unsigned a, unsigned b, unsigned lane, unsigned n_lanes)
{
        unsigned i = scene->n_lines++;
        bool measured = g_rand_int_range(random, 0, 8) > 0;

        scene->ends[i] = (AldLineEnds){ a, b, lane, n_lanes };
        scene->pairs[i] = (AldCardPair){ a, b };
        scene->sizes[i][ALD_LABEL_TO_A] = scene->sizes[i][ALD_LABEL_TO_B] = measured
                                                                                    ? (AldVector){ RATE_WIDTH,
                                                                                              LABEL_HEIGHT }
                                                                                    : (AldVector){ 0, 0 };
        scene->sizes[i][ALD_LABEL_MIDDLE] = (AldVector){ MIDDLE_WIDTH, LABEL_HEIGHT };
        scene->ranks[i] = (unsigned) g_rand_int_range(random, 0, 3);
}

/* From a few links to a full mesh, some of them with RDMA beside the sockets. */
static void make_scene(Scene *scene, GRand *random)
{
        double density = g_rand_int_range(random, 0, 3) == 0 ? 1 : g_rand_double(random),
               double_lanes = g_rand_boolean(random) ? 0 : g_rand_double_range(random, 0, 0.5);

        scene->n_lines = 0;
        scene->n_nodes = (unsigned) g_rand_int_range(random, 1, MOST_NODES + 1);
        for (unsigned a = 0; a < scene->n_nodes; a++)
                for (unsigned b = a + 1; b < scene->n_nodes; b++) {
                        unsigned n_lanes = g_rand_double(random) < double_lanes ? 2 : 1;

                        for (unsigned lane = 0; g_rand_double(random) < density && lane < n_lanes; lane++)
                                add_line(scene, random, a, b, lane, n_lanes);
                }
}

static unsigned count_overlaps(const AldBox *cards, unsigned n_cards, const AldLabel *labels, unsigned n)
{
        unsigned found = 0;

        for (unsigned i = 0; i < n; i++) {
                if (!labels[i].shown)
                        continue;
                for (unsigned k = 0; k < n_cards; k++)
                        found += ald_boxes_overlap(&labels[i].box, &cards[k], 0);
                for (unsigned k = i + 1; k < n; k++)
                        found += labels[k].shown && ald_boxes_overlap(&labels[i].box, &labels[k].box, 0);
        }
        return found;
}

static unsigned place(const Scene *scene, double aspect, Count *count)
{
        const AldPositionsInput input = { .n_nodes = scene->n_nodes,
                .card_width = CARD_WIDTH,
                .card_height = CARD_HEIGHT,
                .label_width = MIDDLE_WIDTH,
                .label_height = LABEL_HEIGHT,
                .aspect = aspect,
                .edges = scene->pairs,
                .n_edges = scene->n_lines };
        g_autoptr(AldPositions) positions = ald_positions_new(&input);
        AldLine routes[MOST_LINES];
        AldLabel labels[MOST_LINES][ALD_N_LABEL_KINDS];
        const AldLabelsInput labelled = { .cards = positions->cards,
                .n_cards = positions->n_cards,
                .bounds = positions->bounds,
                .lines = routes,
                .n_lines = scene->n_lines,
                .sizes = (const AldVector(*)[ALD_N_LABEL_KINDS]) scene->sizes,
                .ranks = scene->ranks };

        ald_lines_route(positions->cards, positions->n_cards, scene->ends, scene->n_lines, routes);
        ald_labels_place(&labelled, labels);
        for (unsigned i = 0; i < scene->n_lines; i++)
                for (AldLabelKind kind = 0; kind < ALD_N_LABEL_KINDS; kind++) {
                        count->labels += scene->sizes[i][kind].x > 0;
                        count->shown += labels[i][kind].shown;
                }
        return count_overlaps(
                positions->cards, scene->n_nodes, labels[0], scene->n_lines * ALD_N_LABEL_KINDS);
}

static double percent(const Count *count)
{
        return count->labels > 0 ? 100.0 * count->shown / count->labels : 100;
}

int main(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(16);
        Scene scene;
        Count to_4 = { 0, 0 }, to_8 = { 0, 0 }, to_16 = { 0, 0 };
        unsigned overlaps = 0;
        double worst = 100;

        for (unsigned i = 0; i < CLUSTERS; i++) {
                Count count = { 0, 0 };
                Count *sum;

                make_scene(&scene, random);
                overlaps += place(&scene, g_rand_int_range(random, 0, 4) == 0 ? 0.6 : 1.5, &count);
                sum = scene.n_nodes <= 4 ? &to_4 : scene.n_nodes <= 8 ? &to_8 : &to_16;
                sum->labels += count.labels;
                sum->shown += count.shown;
                if (scene.n_nodes <= 8)
                        worst = MIN(worst, percent(&count));
        }
        to_8.labels += to_4.labels;
        to_8.shown += to_4.shown;
        printf("{\"label_overlaps\": %u, \"labels_shown_percent_to_4\": %.2f, "
               "\"labels_shown_percent_to_8\": %.2f, \"labels_shown_percent_worst_to_8\": %.2f, "
               "\"labels_shown_percent_9_to_16\": %.2f}\n",
                overlaps, percent(&to_4), percent(&to_8), worst, percent(&to_16));
        return 0;
}
