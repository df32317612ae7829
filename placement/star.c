/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/star.h"

/* Of the devices so far: the least time for so many layers on so many devices, and how many of the layers are
 * on the last of these. */
typedef struct Table {
        const AldPlacementProblem *problem;
        uint32_t most;    /* devices used */
        double *nsec;     /* [used][layers] */
        uint32_t *choice; /* [device][used][layers]; 0: the device is not used */
} Table;

static size_t cell(const Table *table, uint32_t used, uint32_t layers)
{
        return (size_t) used * (table->problem->layers + 1) + layers;
}

static size_t cells(const Table *table)
{
        return (size_t) (table->most + 1) * (table->problem->layers + 1);
}

static void table_clear(Table *table)
{
        g_free(table->nsec);
        g_free(table->choice);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Table, table_clear)

/* The best time for a cell if the device gets at least one layer. */
static double with_device(
        const Table *table, uint32_t device, double use_nsec, uint32_t used, uint32_t layers, uint32_t *ret)
{
        const AldPlacementDevice *it = &table->problem->devices[device];
        double best = INFINITY;

        for (uint32_t n = 1; n <= MIN(it->layers_max, layers); n++) {
                double nsec = table->nsec[cell(table, used - 1, layers - n)] + use_nsec + n * it->layer_nsec;

                if (nsec < best) {
                        best = nsec;
                        *ret = n;
                }
        }
        return best;
}

/* From the largest numbers down, so that what is read is still of the devices before. */
static void add_device(Table *table, uint32_t device, double use_nsec)
{
        uint32_t *choice = table->choice + device * cells(table);
        bool required = table->problem->devices[device].required;

        for (uint32_t used = table->most + 1; used-- > 0;)
                for (uint32_t layers = table->problem->layers + 1; layers-- > 0;) {
                        size_t at = cell(table, used, layers);
                        uint32_t n = 0;
                        double with = used > 0 ? with_device(table, device, use_nsec, used, layers, &n)
                                               : INFINITY;

                        if (!required && !(with < table->nsec[at]))
                                continue;
                        table->nsec[at] = with;
                        choice[at] = n;
                }
}

static void read_back(const Table *table, uint32_t used, AldPlacementSolution *ret)
{
        uint32_t layers = table->problem->layers;

        *ret = (AldPlacementSolution){ .stages = g_new(AldPlacementStage, used),
                .n_stages = used,
                .nsec = table->nsec[cell(table, used, layers)] };
        for (uint32_t device = table->problem->n_devices; device-- > 0;) {
                uint32_t n = table->choice[device * cells(table) + cell(table, used, layers)];

                if (n == 0)
                        continue;
                ret->stages[--used] = (AldPlacementStage){ device, n };
                layers -= n;
        }
}

int ald_placement_solve_star(
        const AldPlacementProblem *problem, const double *use_nsec, AldPlacementSolution *ret)
{
        uint32_t most = MIN(problem->n_devices, problem->layers);
        g_auto(Table) table = { .problem = problem,
                .most = problem->devices_max ? MIN(most, problem->devices_max) : most };
        uint32_t best = 0;

        table.nsec = g_new(double, cells(&table));
        table.choice = g_new0(uint32_t, cells(&table) * problem->n_devices);
        for (size_t i = 0; i < cells(&table); i++)
                table.nsec[i] = INFINITY;
        table.nsec[cell(&table, 0, 0)] = 0;
        for (uint32_t device = 0; device < problem->n_devices; device++)
                add_device(&table, device, use_nsec[device]);
        for (uint32_t used = 1; used <= table.most; used++)
                if (table.nsec[cell(&table, used, problem->layers)] <
                        (best ? table.nsec[cell(&table, best, problem->layers)] : INFINITY))
                        best = used;
        if (best == 0)
                return -ENOSPC;
        read_back(&table, best, ret);
        return 0;
}
