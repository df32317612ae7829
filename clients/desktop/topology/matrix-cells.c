/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "clients/common/format.h"
#include "clients/desktop/live/node-item.h"
#include "clients/desktop/topology/matrix-cells.h"
#include "record/listed-name.h"

#define NAMES_MAX 4u           /* names of a segment */
#define DESCRIBED_MAX 12u      /* segments in a description */
#define SEPARATOR_LEAST_CELL 4 /* pixels of a cell from which segments are separated by lines */

void ald_matrix_cells_free(AldMatrixCells *cells)
{
        if (!cells)
                return;
        g_strfreev(cells->ids);
        g_strfreev(cells->names);
        g_free(cells->segments);
        g_free(cells->firsts);
        g_free(cells->states);
        g_free(cells->rates);
        g_free(cells);
}

static guint find_root(guint *parents, guint i)
{
        while (parents[i] != i)
                i = parents[i] = parents[parents[i]];
        return i;
}

/* Returns for each node a node of the same segment; find_root() follows these to the first one of it. Any
 * number of paths joins two nodes, unless all are mere candidates. */
static guint *join_nodes(const AldTopologySummary *summary, guint n)
{
        guint *parents = g_new(guint, n);

        for (guint i = 0; i < n; i++)
                parents[i] = i;
        for (guint i = 0; i < summary->pairs->len; i++) {
                const AldNodePair *pair = summary->pairs->pdata[i];
                guint a, b;

                if (pair->a >= n || pair->b >= n)
                        continue;
                a = find_root(parents, pair->a);
                b = find_root(parents, pair->b);
                if (!ald_presence_is(pair->row->presence, ALD_EDGE_ROW_PRESENCE_CANDIDATE))
                        parents[MAX(a, b)] = MIN(a, b);
        }
        return parents;
}

static void set_row(AldMatrixCells *cells, const AldTopologyNode *node, guint row)
{
        cells->ids[row] = g_strdup(node->row->node);
        cells->names[row] = g_strdup(node->name);
        cells->segments[row] = cells->n_segments;
}

/* Orders nodes by segment, and by name in each. Returns the row of each node. */
static guint *order_nodes(AldMatrixCells *cells, const AldTopologySummary *summary)
{
        g_autofree guint *parents = join_nodes(summary, cells->n);
        guint *rows = g_new0(guint, cells->n);
        guint row = 0;

        for (guint i = 0; i < cells->n; i++) {
                if (find_root(parents, i) != i)
                        continue;
                for (guint k = i; k < cells->n; k++) {
                        if (find_root(parents, k) != i)
                                continue;
                        set_row(cells, summary->nodes->pdata[k], row);
                        rows[k] = row++;
                }
                cells->firsts[++cells->n_segments] = row;
        }
        return rows;
}

static void set_cell(AldMatrixCells *cells, guint row, guint column, const AldNodePair *pair, uint64_t rate)
{
        size_t i = (size_t) row * cells->n + column;

        if (ald_presence_is(pair->row->presence, ALD_EDGE_ROW_PRESENCE_OFFLINE))
                cells->states[i] = ALD_CELL_OFFLINE;
        else if (rate == ALD_ABSENT_UINT64)
                cells->states[i] = ALD_CELL_UNMEASURED;
        else {
                cells->states[i] = ald_presence_is(pair->row->presence, ALD_EDGE_ROW_PRESENCE_STALE)
                                           ? ALD_CELL_STALE
                                           : ALD_CELL_RATE;
                cells->rates[i] = (double) rate;
                cells->least = fmin(cells->least, fmax((double) rate, 1));
                cells->most = fmax(cells->most, fmax((double) rate, 1));
        }
}

/* Makes cells with this state, except for those between a node and itself. */
static AldMatrixCells *make_cells(guint n_all, AldCellState state)
{
        AldMatrixCells *cells = g_new0(AldMatrixCells, 1);
        size_t n = MIN(n_all, ALD_MATRIX_NODES_MAX);

        cells->n_all = n_all;
        cells->n = (guint) n;
        cells->ids = g_new0(char *, n + 1);
        cells->names = g_new0(char *, n + 1);
        cells->segments = g_new0(guint, n);
        cells->firsts = g_new0(guint, n + 1);
        cells->states = g_malloc_n(n * n, sizeof *cells->states);
        cells->rates = g_new(double, n *n);
        cells->least = cells->most = NAN;
        for (size_t i = 0; i < n * n; i++) {
                cells->states[i] = i % (n + 1) == 0 ? ALD_CELL_SELF : state;
                cells->rates[i] = NAN;
        }
        return cells;
}

AldMatrixCells *ald_matrix_cells_new(const AldTopologySummary *summary)
{
        AldMatrixCells *cells = make_cells(summary->nodes->len, ALD_CELL_NO_PATH);
        g_autofree guint *rows = order_nodes(cells, summary);

        for (guint i = 0; i < summary->pairs->len; i++) {
                const AldNodePair *pair = summary->pairs->pdata[i];

                if (pair->a >= cells->n || pair->b >= cells->n)
                        continue;
                set_cell(cells, rows[pair->a], rows[pair->b], pair, pair->there);
                set_cell(cells, rows[pair->b], rows[pair->a], pair, pair->back);
        }
        return cells;
}

AldMatrixCells *ald_matrix_cells_new_unknown(GListModel *nodes)
{
        AldMatrixCells *cells = make_cells(g_list_model_get_n_items(nodes), ALD_CELL_UNKNOWN);

        for (guint i = 0; i < cells->n; i++) {
                g_autoptr(AldNodeItem) item = g_list_model_get_item(nodes, i);

                cells->ids[i] = g_strdup(ald_node_item_id(item));
                cells->names[i] = g_strdup(ald_node_item_name(item));
        }
        if (cells->n > 0)
                cells->firsts[++cells->n_segments] = cells->n;
        return cells;
}

/* Interpolates the ends and three steps of the scale "viridis", which grows lighter evenly and needs no
 * distinction between red and green. */
uint32_t ald_matrix_color(double share)
{
        static const double scale[][3] = { { 68, 1, 84 }, { 59, 82, 139 }, { 33, 145, 140 }, { 94, 201, 98 },
                { 253, 231, 37 } };
        double at = (isnan(share) ? 0 : CLAMP(share, 0, 1)) * (G_N_ELEMENTS(scale) - 1);
        size_t step = MIN((size_t) at, G_N_ELEMENTS(scale) - 2);
        uint32_t color = 0xff;

        for (size_t i = 0; i < 3; i++)
                color = color << 8 |
                        (uint32_t) (scale[step][i] +
                                    (at - (double) step) * (scale[step + 1][i] - scale[step][i]));
        return color;
}

/* Mixes the colour with the same amount of grey. */
static uint32_t make_paler(uint32_t color)
{
        return 0xff000000 | ((color >> 1 & 0x7f7f7f) + 0x484848);
}

static uint32_t cell_color(const AldMatrixCells *cells, size_t i, bool dark)
{
        double range = log(cells->most / cells->least);
        uint32_t color = ald_matrix_color(
                range > 0 ? log(fmax(cells->rates[i], 1) / cells->least) / range : 1);

        switch (cells->states[i]) {
        case ALD_CELL_RATE:
                return color;
        case ALD_CELL_STALE:
                return make_paler(color);
        case ALD_CELL_UNMEASURED:
                return 0xff9a9996;
        case ALD_CELL_OFFLINE:
                return 0xffc0605a;
        default:
                return dark ? 0xff2a2a2a : 0xfff2f2f2;
        }
}

/* Computes the colour of each cell once, since a cell may have many pixels. */
static uint32_t *color_cells(const AldMatrixCells *cells, bool dark)
{
        size_t n = (size_t) cells->n * cells->n;
        uint32_t *colors = g_new(uint32_t, n);

        for (size_t i = 0; i < n; i++)
                colors[i] = cell_color(cells, i, dark);
        return colors;
}

/* Returns whether this line of pixels separates two segments. */
static bool is_separator(const AldMatrixCells *cells, int pixel, int pixels, int scale)
{
        guint cell = (guint) ((gint64) pixel * cells->n / pixels);
        guint before = (guint) ((gint64) MAX(pixel - scale, 0) * cells->n / pixels);

        return pixels >= (int) cells->n * SEPARATOR_LEAST_CELL * scale &&
               cells->segments[cell] != cells->segments[before];
}

GdkTexture *ald_matrix_cells_picture(const AldMatrixCells *cells, int size, int scale, bool dark)
{
        int pixels = size * scale;
        size_t stride = (size_t) pixels * sizeof(uint32_t);
        uint32_t *data = g_malloc(stride * (size_t) pixels);
        g_autofree uint32_t *colors = color_cells(cells, dark);
        g_autoptr(GBytes) bytes = NULL;

        for (int y = 0; y < pixels; y++) {
                size_t row = (size_t) ((gint64) y * cells->n / pixels) * cells->n;
                bool line = is_separator(cells, y, pixels, scale);

                for (int x = 0; x < pixels; x++)
                        data[(size_t) y * (size_t) pixels + (size_t) x] =
                                line || is_separator(cells, x, pixels, scale)
                                        ? (dark ? 0xffffffff : 0xff000000)
                                        : colors[row + (size_t) ((gint64) x * cells->n / pixels)];
        }
        bytes = g_bytes_new_take(data, stride * (size_t) pixels);
        return gdk_memory_texture_new(pixels, pixels, GDK_MEMORY_DEFAULT, bytes, stride);
}

char *ald_matrix_cells_words(const AldMatrixCells *cells, guint row, guint column)
{
        size_t i = (size_t) row * cells->n + column;
        g_autofree char *rate = ald_format_bits_per_second(cells->rates[i]);
        g_autofree char *stale = g_strdup_printf(_("%s, stale"), rate);
        const char *const words[ALD_N_CELL_STATES] = {
                [ALD_CELL_NO_PATH] = _("no path is known"),
                [ALD_CELL_SELF] = _("the same node"),
                [ALD_CELL_RATE] = rate,
                [ALD_CELL_STALE] = stale,
                [ALD_CELL_UNMEASURED] = _("not measured"),
                [ALD_CELL_OFFLINE] = _("offline"),
                [ALD_CELL_UNKNOWN] = _("unknown"),
        };

        return g_strdup_printf(
                "%s → %s: %s", cells->names[row], cells->names[column], words[cells->states[i]]);
}

/* Returns a text like "alder, birch, cedar, elm, 8 more". */
static char *name_nodes(const AldMatrixCells *cells, guint first, guint end)
{
        g_autoptr(GString) names = g_string_new(NULL);

        for (guint row = first; row < MIN(end, first + NAMES_MAX); row++) {
                g_autofree char *name = ald_listed_name(cells->names[row]);

                g_string_append_printf(names, "%s%s", row > first ? ", " : "", name);
        }
        return end - first > NAMES_MAX
                       ? g_strdup_printf(_("%s, %u more"), names->str, end - first - NAMES_MAX)
                       : g_strdup(names->str);
}

char *ald_matrix_segment_words(const AldMatrixCells *cells, guint segment)
{
        guint first = cells->firsts[segment], end = cells->firsts[segment + 1];
        g_autofree char *names = name_nodes(cells, first, end);

        return g_strdup_printf(ngettext("%u node: %s", "%u nodes: %s", end - first), end - first, names);
}

char *ald_matrix_cells_describe(const AldMatrixCells *cells)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *all = NULL;

        if (cells->n_segments < 2)
                return NULL;
        for (guint i = 0; i < MIN(cells->n_segments, DESCRIBED_MAX); i++) {
                g_autofree char *words = ald_matrix_segment_words(cells, i);

                g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", words);
        }
        all = cells->n_segments > DESCRIBED_MAX
                      ? g_strdup_printf(_("%s, %u more"), text->str, cells->n_segments - DESCRIBED_MAX)
                      : g_strdup(text->str);
        return g_strdup_printf(ngettext("%u segment without a path to others: %s",
                                       "%u segments without a path between them: %s", cells->n_segments),
                cells->n_segments, all);
}
