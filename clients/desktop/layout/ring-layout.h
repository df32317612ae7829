/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/* Returns whether cards with these centers have room between them. */
typedef bool (*AldRoomFunc)(const AldVector *centers, size_t n, AldVector card, const void *userdata);

typedef struct AldRingFit {
        AldVector card, unit; /* the size of a card; horizontal and vertical unit of distances */
        double aspect;        /* of the outline of all cards; an extreme one is only approximated */
        AldRoomFunc has_room;
        const void *userdata;
} AldRingFit;

/*
 * Places the centers of cards on the smallest ellipse around 0, 0 where they have room: the first at the top,
 * the others clockwise, equally far from each other if horizontal distances are measured in unit.x and
 * vertical ones in unit.y.
 */
void ald_ring_fit(const AldRingFit *fit, size_t n, AldVector *ret_centers);
