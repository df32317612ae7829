/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/core.h"

/*
 * A lower bound on solutions of several stages, by dynamic programming over devices, stages and layers. A
 * cell is the least time of a number of layers on at most a number of devices, from one device of the core
 * on, where each device costs its price and its layers, in any order. More than ALD_PLACEMENT_COUNTED_MAX
 * stages are not counted, which only lowers the bound. Takes 8 · devices · stages · layers bytes.
 */
#define ALD_PLACEMENT_COUNTED_MAX 64u

typedef struct AldPlacementTable {
        uint32_t counted; /* stages */
        uint32_t layers;
        double *nsec;  /* [device][stages][layers] */
        double *queue; /* queue of the sliding minimum */
        uint32_t *queued;
} AldPlacementTable;

void ald_placement_table_init(AldPlacementTable *table, const AldPlacementCore *core);
void ald_placement_table_clear(AldPlacementTable *table);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlacementTable, ald_placement_table_clear)

/* Fills the table and spends the work for it. Without with_required, no device is required, as for a search
 * whose paths already contain some of the required ones. */
void ald_placement_table_fill(AldPlacementTable *table, AldPlacementCore *core, bool with_required);

/* Returns the row of at most `stages` devices from this one on, indexed by layers. */
static inline double *ald_placement_table_row(
        const AldPlacementTable *table, uint32_t device, uint32_t stages)
{
        size_t row = (size_t) device * (table->counted + 1) + MIN(stages, table->counted);

        return table->nsec + row * (table->layers + 1);
}

/* Lowers with[l] to the least time of l layers if the device takes some of them, at least the fewest allowed.
 * before[l] is the least time of l layers on other devices. */
void ald_placement_table_add(AldPlacementTable *table, const AldPlacementCore *core, uint32_t device,
        const double *before, double *with);

/* Returns the bound, in nanoseconds. */
double ald_placement_table_bound(const AldPlacementTable *table, const AldPlacementCore *core);

/* Lists the devices that the bound uses. Returns their number. */
uint32_t ald_placement_table_chosen(
        const AldPlacementTable *table, const AldPlacementCore *core, uint32_t chosen[static 1]);

/* Sets with_nsec of the core. */
void ald_placement_table_bound_each(const AldPlacementTable *table, AldPlacementCore *core);
