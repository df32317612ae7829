/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/layout/box-grid.h"

/* About the size of a label. */
#define CELL_WIDTH 128.0
#define CELL_HEIGHT 32.0
#define MAX_CELLS 96u /* in each direction */

typedef struct GridItem {
        AldBox box;
        unsigned id;
} GridItem;

/* One axis of the grid. A box outside of the grid belongs to the cells at its border. */
typedef struct GridAxis {
        double start, per_pixel;
        unsigned n; /* number of cells */
} GridAxis;

struct AldBoxGrid {
        GridAxis x, y;
        GArray **cells; /* of GridItem, row by row; NULL while a cell is empty */
};

typedef struct GridRange {
        unsigned left, right, top, bottom;
} GridRange;

static GridAxis make_axis(double start, double size, double cell)
{
        unsigned n = (unsigned) CLAMP(ceil(size / cell), 1, MAX_CELLS);

        return (GridAxis){ start, n / MAX(size, 1), n };
}

static unsigned cell_at(const GridAxis *axis, double at)
{
        return (unsigned) CLAMP((at - axis->start) * axis->per_pixel, 0, axis->n - 1.0);
}

static GridRange range_of(const AldBoxGrid *grid, const AldBox *box, double gap)
{
        return (GridRange){
                cell_at(&grid->x, box->x - gap),
                cell_at(&grid->x, box->x + box->width + gap),
                cell_at(&grid->y, box->y - gap),
                cell_at(&grid->y, box->y + box->height + gap),
        };
}

AldBoxGrid *ald_box_grid_new(const AldBox *bounds)
{
        AldBoxGrid *grid = g_new0(AldBoxGrid, 1);

        grid->x = make_axis(bounds->x, bounds->width, CELL_WIDTH);
        grid->y = make_axis(bounds->y, bounds->height, CELL_HEIGHT);
        grid->cells = g_new0(GArray *, grid->x.n * grid->y.n);
        return grid;
}

void ald_box_grid_free(AldBoxGrid *grid)
{
        if (!grid)
                return;
        for (unsigned i = 0; i < grid->x.n * grid->y.n; i++)
                if (grid->cells[i])
                        g_array_unref(grid->cells[i]);
        g_free(grid->cells);
        g_free(grid);
}

void ald_box_grid_add(AldBoxGrid *grid, const AldBox *box, unsigned id)
{
        GridRange range = range_of(grid, box, 0);

        for (unsigned y = range.top; y <= range.bottom; y++)
                for (unsigned x = range.left; x <= range.right; x++) {
                        GArray **cell = &grid->cells[y * grid->x.n + x];

                        if (!*cell)
                                *cell = g_array_new(FALSE, FALSE, sizeof(GridItem));
                        g_array_append_val(*cell, ((GridItem){ *box, id }));
                }
}

void ald_box_grid_remove(AldBoxGrid *grid, const AldBox *box, unsigned id)
{
        GridRange range = range_of(grid, box, 0);

        for (unsigned y = range.top; y <= range.bottom; y++)
                for (unsigned x = range.left; x <= range.right; x++) {
                        GArray *cell = grid->cells[y * grid->x.n + x];

                        for (guint i = 0; i < cell->len; i++)
                                if (g_array_index(cell, GridItem, i).id == id) {
                                        g_array_remove_index(cell, i);
                                        break;
                                }
                }
}

static bool is_listed(const unsigned *ids, size_t n, unsigned id)
{
        for (size_t i = 0; i < n; i++)
                if (ids[i] == id)
                        return true;
        return false;
}

size_t ald_box_grid_find(const AldBoxGrid *grid, const AldBox *box, double gap, unsigned *ret_ids, size_t max)
{
        GridRange range = range_of(grid, box, gap);
        size_t n = 0;

        for (unsigned y = range.top; y <= range.bottom; y++)
                for (unsigned x = range.left; x <= range.right; x++) {
                        const GArray *cell = grid->cells[y * grid->x.n + x];

                        for (guint i = 0; cell && i < cell->len && n < max; i++) {
                                const GridItem *item = &g_array_index(cell, GridItem, i);

                                if (ald_boxes_overlap(&item->box, box, gap) &&
                                        !is_listed(ret_ids, n, item->id))
                                        ret_ids[n++] = item->id;
                        }
                }
        return n;
}
