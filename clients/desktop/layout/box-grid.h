/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "clients/desktop/layout/geometry.h"

/* Finds boxes that overlap another: each is listed in the cells of a grid that it touches. */
typedef struct AldBoxGrid AldBoxGrid;

/* The boxes may be anywhere; those within `bounds` are found fastest. */
AldBoxGrid *ald_box_grid_new(const AldBox *bounds);
void ald_box_grid_free(AldBoxGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBoxGrid, ald_box_grid_free)

void ald_box_grid_add(AldBoxGrid *grid, const AldBox *box, unsigned id);

/* The box must be the one that was added under this id. */
void ald_box_grid_remove(AldBoxGrid *grid, const AldBox *box, unsigned id);

/* Finds the boxes less than `gap` from this one. Stores the id of each once, at most `max` of them, and
 * returns how many. */
size_t ald_box_grid_find(
        const AldBoxGrid *grid, const AldBox *box, double gap, unsigned *ret_ids, size_t max);
