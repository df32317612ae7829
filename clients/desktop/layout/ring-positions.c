/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/layout/ring-layout.h"
#include "clients/desktop/layout/ring-positions.h"
#include "clients/desktop/layout/spread.h"

/* The distance between two labels. */
#define LABEL_GAP 6.0
/* The least distance between two cards. */
#define CARD_GAP 40.0
/* In a window with a smaller aspect ratio, two cards are above each other. */
#define NARROW 0.8

typedef struct Room {
        AldVector label;
        double labels;  /* how many fit beside each other along each line */
        double density; /* how many times the area of all labels must be free */
} Room;

/* Returns the length of the part of a straight line between two cards that they do not hide. */
static double visible_length(AldVector way, AldVector card)
{
        double hidden = MIN(
                way.x != 0 ? card.x / fabs(way.x) : INFINITY, way.y != 0 ? card.y / fabs(way.y) : INFINITY);

        return ald_vector_length(way) * (1 - hidden);
}

/* Returns how much of a line the label beside it takes up. */
static double label_pitch(AldVector way, AldVector label)
{
        AldVector unit = ald_vector_unit(way);
        double by_width = fabs(unit.x) > 1e-9 ? (label.x + LABEL_GAP) / fabs(unit.x) : INFINITY;
        double by_height = fabs(unit.y) > 1e-9 ? (label.y + LABEL_GAP) / fabs(unit.y) : INFINITY;

        return MIN(by_width, by_height);
}

static double free_area(const AldVector *centers, size_t n, AldVector card)
{
        AldBox bounds = { centers[0].x, centers[0].y, 0, 0 };

        for (size_t i = 1; i < n; i++)
                bounds = ald_box_join(&bounds, &(AldBox){ centers[i].x, centers[i].y, 0, 0 });
        return (bounds.width + card.x) * (bounds.height + card.y) - n * card.x * card.y;
}

static bool has_room(const AldVector *centers, size_t n, AldVector card, const void *userdata)
{
        const Room *room = userdata;
        double n_labels = 3.0 * n * (n - 1) / 2, area = n_labels * room->label.x * room->label.y;

        if (ald_points_scale_apart(centers, n, (AldVector){ card.x + CARD_GAP, card.y + CARD_GAP }) > 1)
                return false;
        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) {
                        AldVector way = ald_vector_sub(centers[j], centers[i]);

                        if (visible_length(way, card) < room->labels * label_pitch(way, room->label))
                                return false;
                }
        return free_area(centers, n, card) >= room->density * area;
}

/* Places two cards beside each other, or above each other in a narrow window. */
static void place_two(AldVector card, const Room *room, bool narrow, AldVector *centers)
{
        double gap = (narrow ? room->label.y : room->label.x) + LABEL_GAP;
        double half = (MAX(3 * gap + 2 * LABEL_GAP, CARD_GAP) + (narrow ? card.y : card.x)) / 2;

        centers[0] = narrow ? (AldVector){ 0, -half } : (AldVector){ -half, 0 };
        centers[1] = ald_vector_scale(centers[0], -1);
}

void ald_ring_positions_place(AldPositions *positions, const AldPositionsInput *input)
{
        AldVector centers[ALD_RING_NODES] = { 0 }, card = { input->card_width, input->card_height };
        Room room = { { input->label_width, input->label_height }, .labels = input->n_nodes <= 4 ? 3.5 : 2.6,
                .density = input->n_nodes <= 4 ? 13 : 8 };
        AldRingFit fit = { card, { card.x + room.label.x, card.y + 2 * room.label.y }, input->aspect,
                has_room, &room };

        if (input->n_nodes == 2)
                place_two(card, &room, input->aspect < NARROW, centers);
        else if (input->n_nodes > 2)
                ald_ring_fit(&fit, input->n_nodes, centers);
        for (size_t i = 0; i < input->n_nodes; i++)
                positions->cards[i] = ald_box_around(centers[i], card.x, card.y);
}
