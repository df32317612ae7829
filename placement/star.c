/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/star.h"

/* How many of the layers are on a device, and whether it is the last stage; no layers: it is not used. */
typedef struct Choice {
        uint32_t layers : 31;
        uint32_t is_last : 1;
} Choice;

/* Of the devices so far: the least time for so many layers on so many devices, with a last stage among them
 * or not, and what the last of these devices has of it. */
typedef struct Table {
        const AldPlacementProblem *problem;
        const AldPlacementStar *star;
        uint32_t most;  /* devices used */
        double *nsec;   /* [used][layers][with a last stage] */
        Choice *choice; /* [device][used][layers][with a last stage] */
} Table;

static size_t cell(const Table *table, uint32_t used, uint32_t layers, bool last)
{
        return ((size_t) used * (table->problem->layers + 1) + layers) * 2 + last;
}

static size_t cells(const Table *table)
{
        return cell(table, table->most + 1, 0, false);
}

static void table_clear(Table *table)
{
        g_free(table->nsec);
        g_free(table->choice);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Table, table_clear)

/* Lowers *best if that is possible with at least one layer on the device, as the last stage or not. */
static void try_device(const Table *table, uint32_t device, uint32_t used, uint32_t layers, bool last,
        bool is_last, double *best, Choice *ret)
{
        const AldPlacementDevice *it = &table->problem->devices[device];
        const AldPlacementStar *star = table->star;
        bool more = is_last && star->last_nsec;
        uint32_t most = more ? star->last_layers_max[device] : it->layers_max;
        double use_nsec = star->use_nsec[device] + (more ? star->last_nsec[device] : 0);

        for (uint32_t n = 1; n <= MIN(most, layers); n++) {
                double nsec = table->nsec[cell(table, used - 1, layers - n, last && !is_last)] + use_nsec +
                              n * it->layer_nsec;

                if (nsec < *best) {
                        *best = nsec;
                        *ret = (Choice){ n, is_last };
                }
        }
}

static double with_device(
        const Table *table, uint32_t device, uint32_t used, uint32_t layers, bool last, Choice *ret)
{
        double best = INFINITY;

        if (used == 0)
                return best;
        try_device(table, device, used, layers, last, false, &best, ret);
        if (last)
                try_device(table, device, used, layers, last, true, &best, ret);
        return best;
}

/* From the largest numbers down, so that what is read is still of the devices before. */
static void add_device(Table *table, uint32_t device)
{
        Choice *choice = table->choice + device * cells(table);
        bool required = table->problem->devices[device].required;

        for (size_t i = cells(table); i-- > 0;) {
                uint32_t used = (uint32_t) (i / cell(table, 1, 0, false));
                uint32_t layers = (uint32_t) (i % cell(table, 1, 0, false) / 2);
                Choice chosen = {};
                double with = with_device(table, device, used, layers, i % 2, &chosen);

                if (!required && !(with < table->nsec[i]))
                        continue;
                table->nsec[i] = with;
                choice[i] = chosen;
        }
}

static void read_back(const Table *table, uint32_t used, AldPlacementSolution *ret)
{
        uint32_t layers = table->problem->layers, to, at = table->star->last_nsec ? used - 1 : used;
        bool last = true;

        *ret = (AldPlacementSolution){ .stages = g_new(AldPlacementStage, used),
                .n_stages = used,
                .nsec = table->nsec[cell(table, used, layers, true)] };
        for (uint32_t device = table->problem->n_devices; device-- > 0;) {
                Choice chosen = table->choice[device * cells(table) + cell(table, used, layers, last)];

                if (chosen.layers == 0)
                        continue;
                if (chosen.is_last && table->star->last_nsec)
                        to = ret->n_stages - 1;
                else
                        to = --at;
                ret->stages[to] = (AldPlacementStage){ device, chosen.layers };
                used--;
                layers -= chosen.layers;
                last = last && !chosen.is_last;
        }
}

int ald_placement_solve_star(
        const AldPlacementProblem *problem, const AldPlacementStar *star, AldPlacementSolution *ret)
{
        uint32_t most = MIN(problem->n_devices, problem->layers);
        g_auto(Table) table = { .problem = problem,
                .star = star,
                .most = problem->devices_max ? MIN(most, problem->devices_max) : most };
        double best_nsec = INFINITY;
        uint32_t best = 0;

        table.nsec = g_new(double, cells(&table));
        table.choice = g_new0(Choice, cells(&table) * problem->n_devices);
        for (size_t i = 0; i < cells(&table); i++)
                table.nsec[i] = INFINITY;
        table.nsec[cell(&table, 0, 0, false)] = 0;
        for (uint32_t device = 0; device < problem->n_devices; device++)
                add_device(&table, device);
        for (uint32_t used = 1; used <= table.most; used++)
                if (table.nsec[cell(&table, used, problem->layers, true)] < best_nsec) {
                        best_nsec = table.nsec[cell(&table, used, problem->layers, true)];
                        best = used;
                }
        if (best == 0)
                return -ENOSPC;
        read_back(&table, best, ret);
        return 0;
}
