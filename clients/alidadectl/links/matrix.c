/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/links/drawing.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"

#define WIDE_CELL 10   /* "9.41 Gb/s≠" */
#define COMPACT_CELL 6 /* "9.41G≠" */
#define NAME_LEAST 6   /* of the names of rows, where numbers stand for those of columns */
#define NUMBER_WIDTH 2 /* "1 " before such a name */
#define GAP 2

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

bool ald_topology_draw_matrix(GString *out, const AldTopology *topology, AldPath path, unsigned columns)
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
