/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/layout/graph-positions.h"
#include "clients/desktop/layout/group-positions.h"
#include "clients/desktop/layout/positions.h"
#include "clients/desktop/layout/ring-positions.h"

/* The margin around the picture. */
#define MARGIN 24.0

static double clamp_or_default(double size, double usual, double least, double most)
{
        return isfinite(size) && size > 0 ? CLAMP(size, least, most) : usual;
}

/* Returns the input with every size in the range in which it can be drawn. */
static AldPositionsInput sanitize_input(const AldPositionsInput *input)
{
        AldPositionsInput sane = *input;

        sane.card_width = clamp_or_default(input->card_width, 208, 8, 4096);
        sane.card_height = clamp_or_default(input->card_height, 116, 8, 4096);
        sane.label_width = clamp_or_default(input->label_width, 0, 0, 1024);
        sane.label_height = clamp_or_default(input->label_height, 0, 0, 1024);
        sane.aspect = clamp_or_default(input->aspect, 1.6, 0.4, 3);
        return sane;
}

/* Moves everything to the upper left corner, and cards to whole pixels. */
static void move_to_origin(AldPositions *positions)
{
        AldBox around = ald_boxes_bounds(positions->cards, positions->n_cards);

        for (size_t i = 0; i < positions->n_groups; i++)
                around = ald_box_join(&around, &positions->groups[i].frame);
        for (size_t i = 0; i < positions->n_cards; i++) {
                positions->cards[i].x = floor(positions->cards[i].x - around.x + MARGIN + 0.5);
                positions->cards[i].y = floor(positions->cards[i].y - around.y + MARGIN + 0.5);
        }
        for (size_t i = 0; i < positions->n_groups; i++) {
                positions->groups[i].frame.x += MARGIN - around.x;
                positions->groups[i].frame.y += MARGIN - around.y;
        }
        positions->bounds = (AldBox){ 0, 0, ceil(around.width + 2 * MARGIN),
                ceil(around.height + 2 * MARGIN) };
}

AldPositions *ald_positions_new(const AldPositionsInput *input)
{
        AldPositionsInput sane = sanitize_input(input);
        AldPositions *positions = g_new0(AldPositions, 1);

        positions->n_cards = sane.n_nodes;
        positions->cards = g_new0(AldBox, sane.n_nodes);
        if (sane.n_nodes > ALD_GRAPH_NODES)
                ald_groups_place(positions, &sane);
        else if (sane.n_nodes > ALD_RING_NODES)
                ald_graph_positions_place(positions, &sane);
        else
                ald_ring_positions_place(positions, &sane);
        move_to_origin(positions);
        return positions;
}

void ald_positions_free(AldPositions *positions)
{
        if (!positions)
                return;
        g_free(positions->cards);
        g_free(positions->groups);
        g_free(positions);
}
