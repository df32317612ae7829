/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "placement/layer-table.h"

void ald_placement_table_init(AldPlacementTable *table, const AldPlacementCore *core)
{
        *table = (AldPlacementTable){ .counted = core->most <= ALD_PLACEMENT_COUNTED_MAX ? core->most : 0,
                .layers = core->layers,
                .queue = g_new(double, core->layers + 1),
                .queued = g_new(uint32_t, core->layers + 1) };
        table->nsec = g_new(double, (size_t) (core->n + 1) * (table->counted + 1) * (core->layers + 1));
}

void ald_placement_table_clear(AldPlacementTable *table)
{
        g_free(table->nsec);
        g_free(table->queue);
        g_free(table->queued);
}

/* The minimum over n of before[l − n] + n × layer_nsec equals l × layer_nsec plus the minimum of before[m] −
 * m × layer_nsec over the window of m = l − n, so a sliding minimum finds it. */
void ald_placement_table_add(AldPlacementTable *table, const AldPlacementCore *core, uint32_t device,
        const double *before, double *with)
{
        const AldPlacementDevice *it = ald_placement_core_device(core, device);
        double price = ald_placement_core_price(core, device), nsec = it->layer_nsec;
        uint32_t begin = 0, end = 0, least = ald_placement_layers_min(core->problem);

        for (uint32_t layers = least; layers <= table->layers; layers++) {
                double value = before[layers - least] - (layers - least) * nsec;

                while (end > begin && table->queue[end - 1] >= value)
                        end--;
                table->queue[end] = value;
                table->queued[end++] = layers - least;
                if (layers - table->queued[begin] > it->layers_max)
                        begin++;
                value = table->queue[begin] + price + layers * nsec;
                with[layers] = MIN(with[layers], value);
        }
}

void ald_placement_table_fill(AldPlacementTable *table, AldPlacementCore *core, bool with_required)
{
        size_t cells = (size_t) (table->counted + 1) * (table->layers + 1);
        double *none = ald_placement_table_row(table, core->n, 0);

        for (size_t i = 0; i < cells; i++)
                none[i] = i % (table->layers + 1) == 0 ? 0 : INFINITY;
        for (uint32_t i = core->n; i-- > 0;) {
                double *rows = ald_placement_table_row(table, i, 0);

                memcpy(rows, ald_placement_table_row(table, i + 1, 0), cells * sizeof(double));
                if (with_required && ald_placement_core_device(core, i)->required)
                        for (size_t at = 0; at < cells; at++)
                                rows[at] = INFINITY;
                for (uint32_t k = MIN(table->counted, 1); k <= table->counted; k++)
                        ald_placement_table_add(table, core, i,
                                ald_placement_table_row(table, i + 1, k > 0 ? k - 1 : 0),
                                ald_placement_table_row(table, i, k));
        }
        (void) ald_placement_core_spend(core, core->n * cells);
}

double ald_placement_table_bound(const AldPlacementTable *table, const AldPlacementCore *core)
{
        return ald_placement_table_row(table, 0, core->most)[core->layers] + core->ends_nsec;
}

/* Returns how many of these layers the device has in their least time on at most `stages` devices from this
 * one on. */
static uint32_t layers_on(const AldPlacementTable *table, const AldPlacementCore *core, uint32_t device,
        uint32_t stages, uint32_t layers)
{
        const AldPlacementDevice *it = ald_placement_core_device(core, device);
        const double *before = ald_placement_table_row(table, device + 1, stages - 1);
        double least = INFINITY;
        uint32_t best = 0;

        for (uint32_t n = ald_placement_layers_min(core->problem); n <= MIN(layers, it->layers_max); n++) {
                double nsec = before[layers - n] + n * it->layer_nsec;

                if (nsec < least) {
                        least = nsec;
                        best = n;
                }
        }
        return best;
}

uint32_t ald_placement_table_chosen(
        const AldPlacementTable *table, const AldPlacementCore *core, uint32_t chosen[static 1])
{
        uint32_t n = 0, layers = core->layers;

        for (uint32_t i = 0; i < core->n && layers > 0 && n < core->most; i++) {
                bool required = ald_placement_core_device(core, i)->required;

                if (!required && ald_placement_table_row(table, i, core->most - n)[layers] ==
                                         ald_placement_table_row(table, i + 1, core->most - n)[layers])
                        continue;
                layers -= layers_on(table, core, i, core->most - n, layers);
                chosen[n++] = i;
        }
        return n;
}

/* The other stages may use the device once more, which only lowers the bound and saves a table without it. */
void ald_placement_table_bound_each(const AldPlacementTable *table, AldPlacementCore *core)
{
        const double *others = ald_placement_table_row(table, 0, core->most - 1);

        for (uint32_t i = 0; i < core->n; i++) {
                const AldPlacementDevice *it = ald_placement_core_device(core, i);
                double least = INFINITY;

                for (uint32_t n = ald_placement_layers_min(core->problem);
                        n <= MIN(core->layers, it->layers_max); n++)
                        least = MIN(least, others[core->layers - n] + n * it->layer_nsec);
                least += ald_placement_core_price(core, i) + core->ends_nsec;
                core->with_nsec[i] = it->required ? ald_placement_table_bound(table, core) : least;
        }
}
