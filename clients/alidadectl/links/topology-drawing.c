/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/command-line/table.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"

#define WIDE_CELL 10   /* "9.41 Gb/s≠" */
#define COMPACT_CELL 6 /* "9.41G≠" */
#define NAME_LEAST 6   /* of the names of rows, where numbers stand for those of columns */
#define NUMBER_WIDTH 2 /* "1 " before such a name */
#define GAP 2
#define LISTED_MAX 10u /* of a big cluster */
#define COMPACT_BELOW 48

/* How a matrix is laid out. */
typedef struct Layout {
        const AldTopology *topology;
        AldPath path;
        bool compact; /* numbers over the columns, and short rates */
        unsigned label, cell;
} Layout;

char *ald_topology_rate(uint64_t rate, bool compact)
{
        char *text = ald_format_bits_per_second(ald_figure(rate)), *blank = strchr(text, ' ');

        if (compact && blank) {
                blank[0] = blank[1] == 'b' ? '\0' : blank[1];
                blank[blank[0] ? 1 : 0] = '\0';
        }
        return text;
}

static unsigned total_width(const Layout *layout)
{
        return layout->label + 1 + layout->topology->names->len * (GAP + layout->cell);
}

static unsigned widest_name(const AldTopology *topology)
{
        unsigned widest = 0;

        for (guint i = 0; i < topology->names->len; i++)
                widest = MAX(widest, ald_text_width(topology->names->pdata[i]));
        return widest;
}

/* Whether there is a layout that fits. */
static bool lay_out(Layout *layout, unsigned columns)
{
        unsigned widest = widest_name(layout->topology), rest;

        layout->label = widest;
        layout->cell = MAX(WIDE_CELL, widest);
        if (columns == 0 || total_width(layout) <= columns)
                return true;
        layout->compact = true;
        layout->cell = COMPACT_CELL;
        layout->label = 0;
        rest = total_width(layout);
        if (columns < rest + NUMBER_WIDTH + MIN(widest, NAME_LEAST))
                return false;
        layout->label = MIN(columns - rest, NUMBER_WIDTH + widest);
        return true;
}

static void append_label(GString *out, const Layout *layout, unsigned row)
{
        const char *name = layout->topology->names->pdata[row];
        g_autofree char *label = layout->compact ? g_strdup_printf("%u %s", row + 1, name) : g_strdup(name);
        g_autofree char *fitted = ald_text_fit(label, layout->label, false);

        g_string_append_printf(out, ALD_STYLE_BOLD "%s" ALD_STYLE_NORMAL "│", fitted);
}

static void append_cell(GString *out, const Layout *layout, const char *text)
{
        g_autofree char *fitted = ald_text_fit(text, layout->cell, true);

        g_string_append_printf(out, "%*s%s", GAP, "", fitted);
}

static void append_header(GString *out, const Layout *layout)
{
        const GPtrArray *names = layout->topology->names;

        g_string_append_printf(out, "%*s│", (int) layout->label, "");
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *title = layout->compact ? g_strdup_printf("%u ", i + 1)
                                                         : g_strdup(names->pdata[i]);
                g_autofree char *bold = g_strconcat(ALD_STYLE_BOLD, title, ALD_STYLE_NORMAL, NULL);

                append_cell(out, layout, bold);
        }
        g_string_append_c(out, '\n');
        for (unsigned i = 0; i < total_width(layout); i++)
                g_string_append(out, i == layout->label ? "┼" : "─");
        g_string_append_c(out, '\n');
}

/* A blank takes the place of the mark, so that the rates stand in a line. */
static char *describe_rate(const Layout *layout, unsigned from, unsigned to)
{
        const AldNodePair *pair = ald_topology_find(layout->topology, layout->path, from, to);
        bool uneven = pair && ald_node_pair_is_uneven(pair);
        g_autofree char *rate = NULL;

        if (from == to)
                return g_strdup(ALD_STYLE_DIM "· " ALD_STYLE_NORMAL);
        rate = ald_topology_rate(!pair       ? ALD_ABSENT_UINT64
                                 : from < to ? pair->there
                                             : pair->back,
                layout->compact);
        return uneven ? g_strdup_printf(ALD_STYLE_WARNING "%s≠" ALD_STYLE_NORMAL, rate)
                      : g_strdup_printf("%s ", rate);
}

/* Draws the matrix of one path. Returns false and draws nothing if it does not fit. */
static bool draw_matrix(GString *out, const AldTopology *topology, AldPath path, unsigned columns)
{
        Layout layout = { .topology = topology, .path = path };

        if (!lay_out(&layout, columns))
                return false;
        append_header(out, &layout);
        for (guint row = 0; row < topology->names->len; row++) {
                append_label(out, &layout, row);
                for (guint column = 0; column < topology->names->len; column++) {
                        g_autofree char *text = describe_rate(&layout, row, column);

                        append_cell(out, &layout, text);
                }
                g_string_append_c(out, '\n');
        }
        return true;
}

/* The three that stay fit into 20 columns. */
static const AldColumn pair_columns[] = {
        { "NODES", .least = 6, .flexible = true },
        { "→", .right = true },
        { "←", .right = true },
        { "RTT/2", .right = true, .priority = 2 },
        { "NOTE", .priority = 1 },
};

static const char *path_title(AldPath path)
{
        return path == ALD_PATH_SOCKET ? "sockets" : "RDMA";
}

static void append_line(GString *out, const char *text, unsigned columns)
{
        ald_text_wrap(out, text, columns, 0);
        g_string_append_c(out, '\n');
}

static void append_pairs(
        GString *out, const AldTopology *topology, AldNodePair *const *pairs, unsigned n, unsigned columns)
{
        g_autoptr(AldTable) table = ald_table_new(pair_columns, G_N_ELEMENTS(pair_columns));
        bool compact = columns > 0 && columns < COMPACT_BELOW;

        for (unsigned i = 0; i < n; i++) {
                bool uneven = ald_node_pair_is_uneven(pairs[i]);

                ald_table_add(table, g_strdup_printf("%s ↔ %s", (char *) topology->names->pdata[pairs[i]->a],
                                             (char *) topology->names->pdata[pairs[i]->b]));
                ald_table_add(table, ald_topology_rate(pairs[i]->there, compact));
                ald_table_add(table, ald_topology_rate(pairs[i]->back, compact));
                ald_table_add(table, ald_format_nsec(ald_figure(pairs[i]->rtt) / 2));
                ald_table_add(table, g_strdup(uneven ? ALD_STYLE_WARNING "≠ uneven" ALD_STYLE_NORMAL : ""));
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}

/* Absent is the greatest. */
static uint64_t slower(const AldNodePair *pair)
{
        return MIN(pair->there, pair->back);
}

/* How many times the faster direction is as fast as the other; 1 if one of them is not known. */
static double unevenness(const AldNodePair *pair)
{
        double there = ald_figure(pair->there), back = ald_figure(pair->back);
        double ratio = fmax(there, back) / fmin(there, back);

        return isnan(there) || isnan(back) || isnan(ratio) ? 1 : ratio;
}

static int compare_slowness(const void *a, const void *b)
{
        const AldNodePair *const *x = a, *const *y = b;

        return slower(*x) < slower(*y) ? -1 : slower(*x) > slower(*y);
}

static int compare_unevenness(const void *a, const void *b)
{
        const AldNodePair *const *x = a, *const *y = b;

        return unevenness(*x) > unevenness(*y) ? -1 : unevenness(*x) < unevenness(*y);
}

/* Of many pairs, those that are worth a look: the slowest and the most uneven. */
static void draw_extremes(GString *out, const AldTopology *topology, AldPath path, unsigned columns)
{
        const GPtrArray *all = topology->pairs[path];
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();
        unsigned shown = MIN(all->len, LISTED_MAX), uneven = 0;
        g_autofree char *title = g_strdup_printf(
                "The slowest of %u pairs over %s:", all->len, path_title(path));

        for (guint i = 0; i < all->len; i++)
                g_ptr_array_add(sorted, all->pdata[i]);
        g_ptr_array_sort(sorted, compare_slowness);
        append_line(out, title, columns);
        append_pairs(out, topology, (AldNodePair *const *) sorted->pdata, shown, columns);
        g_ptr_array_sort(sorted, compare_unevenness);
        while (uneven < shown && ald_node_pair_is_uneven(sorted->pdata[uneven]))
                uneven++;
        if (uneven == 0)
                return;
        g_string_append_c(out, '\n');
        append_line(out, "The most uneven ones:", columns);
        append_pairs(out, topology, (AldNodePair *const *) sorted->pdata, uneven, columns);
}

/* Each uneven pair in words. */
static void explain_uneven(GString *out, const AldTopology *topology, AldPath path, unsigned columns)
{
        const GPtrArray *pairs = topology->pairs[path];

        for (guint i = 0; i < pairs->len; i++) {
                const AldNodePair *pair = pairs->pdata[i];
                g_autofree char *there = ald_format_bits_per_second(ald_figure(pair->there)), *text = NULL;
                g_autofree char *back = ald_format_bits_per_second(ald_figure(pair->back));
                const char *a = topology->names->pdata[pair->a], *b = topology->names->pdata[pair->b];

                if (!ald_node_pair_is_uneven(pair))
                        continue;
                text = g_strdup_printf("≠ uneven: %s from %s to %s, %s back", there, a, b, back);
                append_line(out, text, columns);
        }
}

static void draw_path(GString *out, const AldTopology *topology, AldPath path, unsigned columns)
{
        const GPtrArray *pairs = topology->pairs[path];
        g_autoptr(GString) matrix = g_string_new(NULL);
        g_autofree char *title = NULL;

        if (topology->names->len > ALD_DRAWING_NODES_MAX) {
                draw_extremes(out, topology, path, columns);
                return;
        }
        if (!draw_matrix(matrix, topology, path, columns)) {
                title = g_strdup_printf("Over %s:", path_title(path));
                append_line(out, title, columns);
                append_pairs(out, topology, (AldNodePair *const *) pairs->pdata, pairs->len, columns);
                return;
        }
        title = g_strdup_printf(
                "Over %s, from the node at the left to the one at the top:", path_title(path));
        append_line(out, title, columns);
        g_string_append(out, matrix->str);
        explain_uneven(out, topology, path, columns);
}

/* Names the nodes that do not count, below the drawing. */
static void append_excluded(GString *out, const AldTopology *topology, unsigned columns)
{
        const GPtrArray *excluded = topology->excluded;
        g_autoptr(GString) text = g_string_new("Left out: ");

        if (excluded->len == 0)
                return;
        for (guint i = 0; i < MIN(excluded->len, LISTED_MAX); i++)
                g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (const char *) excluded->pdata[i]);
        if (excluded->len > LISTED_MAX)
                g_string_append_printf(text, " and %u more", excluded->len - LISTED_MAX);
        g_string_append_c(out, '\n');
        append_line(out, text->str, columns);
}

void ald_topology_draw(GString *out, const AldTopology *topology, unsigned columns)
{
        for (AldPath path = 0; path < ALD_TOPOLOGY_PATHS; path++) {
                if (topology->pairs[path]->len == 0)
                        continue;
                if (out->len > 0)
                        g_string_append_c(out, '\n');
                draw_path(out, topology, path, columns);
        }
        if (out->len == 0)
                g_string_append(out, topology->excluded->len > 0
                                             ? "No link between the other nodes has been measured yet.\n"
                                             : "No link has been measured yet.\n");
        else if (topology->names->len > ALD_DRAWING_NODES_MAX) {
                g_autofree char *note = g_strdup_printf(
                        "%u nodes are too many to draw. \"alidadectl links NODE\" shows all links of one "
                        "node, --json shows all links.",
                        topology->names->len);

                g_string_append_c(out, '\n');
                append_line(out, note, columns);
        }
        append_excluded(out, topology, columns);
}
