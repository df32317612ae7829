/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "clients/desktop/layout/geometry.h"

/* Finds boxes that overlap another: each is listed in the cells of a grid that it touches. */
typedef struct AldBoxGrid AldBoxGrid;

/* For boxes anywhere; those within `bounds` are found fastest. */
AldBoxGrid *ald_box_grid_new(const AldBox *bounds);
void ald_box_grid_free(AldBoxGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBoxGrid, ald_box_grid_free)

void ald_box_grid_add(AldBoxGrid *grid, const AldBox *box, unsigned id);

/* The box must be the one that was added under this id. */
void ald_box_grid_remove(AldBoxGrid *grid, const AldBox *box, unsigned id);

/* The ids of boxes with less than `gap` to this one, each once; no more than `max` of them. */
size_t ald_box_grid_find(
        const AldBoxGrid *grid, const AldBox *box, double gap, unsigned *ret_ids, size_t max);
