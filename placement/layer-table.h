/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/core.h"

/*
 * A lower bound on solutions of several stages: the least time of each number of layers on at most a number
 * of devices, all of them from one device of the core on, if each costs its price and its layers in any
 * order. By dynamic programming over devices, stages and layers. With more than ALD_PLACEMENT_COUNTED_MAX
 * stages these are not counted, which only lowers the bound. Takes 8 · devices · stages · layers bytes.
 */
#define ALD_PLACEMENT_COUNTED_MAX 64u

typedef struct AldPlacementTable {
        uint32_t counted; /* stages */
        uint32_t layers;
        double *nsec;  /* [device][stages][layers] */
        double *queue; /* of the sliding minimum */
        uint32_t *queued;
} AldPlacementTable;

void ald_placement_table_init(AldPlacementTable *table, const AldPlacementCore *core);
void ald_placement_table_clear(AldPlacementTable *table);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlacementTable, ald_placement_table_clear)

/* Spends the work that it takes. A search that has some devices already does not have them required. */
void ald_placement_table_fill(AldPlacementTable *table, AldPlacementCore *core, bool with_required);

/* By layers: of devices from this one on, `stages` of them at most. */
static inline double *ald_placement_table_row(
        const AldPlacementTable *table, uint32_t device, uint32_t stages)
{
        size_t row = (size_t) device * (table->counted + 1) + MIN(stages, table->counted);

        return table->nsec + row * (table->layers + 1);
}

/* before[l] is the least time of l layers on some devices; lowers with[l] to what it is if the device takes
 * the fewest at least of them. */
void ald_placement_table_add(AldPlacementTable *table, const AldPlacementCore *core, uint32_t device,
        const double *before, double *with);

/* The bound, in nanoseconds. */
double ald_placement_table_bound(const AldPlacementTable *table, const AldPlacementCore *core);

/* The devices of which the bound consists; their number. */
uint32_t ald_placement_table_chosen(
        const AldPlacementTable *table, const AldPlacementCore *core, uint32_t chosen[static 1]);

/* Sets with_nsec of the core. */
void ald_placement_table_bound_each(const AldPlacementTable *table, AldPlacementCore *core);
