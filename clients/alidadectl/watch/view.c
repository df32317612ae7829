/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <time.h>

#include "clients/alidadectl/state/node-table.h"
#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/watch/view.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/cluster-facts.h"
#include "clients/common/finding-display.h"
#include "clients/common/topology-summary.h"

#define FINDINGS_SHARE 4 /* the findings take at most a quarter of the rows */
#define TOTALS_ROWS 4u   /* and one more if some devices have FP32 only, or power is known */
#define NODES_LEAST 2u   /* shown on any screen */
#define LINKS_MAX 200u   /* more would be unreadable, and slow to draw four times a second */
#define LINKS_LEAST 3u   /* rows: a blank one, the header and a link */
#define LINKS_ONCE 20u   /* if rows are not limited */
#define REMEDY_ROWS 3u

static void add_line(GPtrArray *lines, const AldView *view, char *line)
{
        g_autofree char *text = line;

        g_ptr_array_add(
                lines, view->columns > 0 ? ald_text_cut(text, view->columns) : g_steal_pointer(&text));
}

static char *format_time(double usec)
{
        time_t seconds = (time_t) (usec / 1e6);
        char text[16] = "";
        struct tm tm;

        if (localtime_r(&seconds, &tm))
                (void) strftime(text, sizeof(text), "%H:%M:%S", &tm);
        return g_strdup(text);
}

/* Returns true if these rows fit beside the title, some nodes and the keys. Nodes come first. */
static bool has_room(const AldView *view, unsigned title, unsigned rows)
{
        unsigned nodes = 1 + MIN(ald_model_nodes(view->model)->len, NODES_LEAST);

        return view->rows == 0 || view->rows >= title + rows + nodes + 1;
}

static void add_title(GPtrArray *lines, const AldView *view)
{
        g_autofree char *counts = ald_cluster_counts(view->model);
        g_autofree char *left = g_strdup_printf(ALD_STYLE_BOLD "Alidade" ALD_STYLE_NORMAL "  %s", counts);
        g_autofree char *right = format_time(view->now_usec);
        unsigned used = ald_text_width(left) + ald_text_width(right),
                 columns = view->columns ? view->columns : 80;

        if (used + 2 > columns)
                add_line(lines, view, g_steal_pointer(&left));
        else
                add_line(lines, view, g_strdup_printf("%s%*s%s", left, (int) (columns - used), "", right));
        if (view->problem) {
                g_autofree char *safe = ald_text_safe(view->problem);

                add_line(lines, view, g_strdup_printf(ALD_STYLE_ERROR "%s" ALD_STYLE_NORMAL, safe));
        }
}

/* Adds the lines of a sentence, at most `max` (0: no limit). The sentence is safe text. */
static void add_sentence(
        GPtrArray *lines, const AldView *view, const char *style, const char *sentence, unsigned max)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(GStrv) wrapped = NULL;

        ald_text_wrap(text, sentence, view->columns, 0);
        wrapped = g_strsplit(text->str, "\n", -1);
        for (unsigned i = 0; wrapped[i] && (max == 0 || i < max); i++)
                add_line(lines, view, g_strdup_printf("%s%s" ALD_STYLE_NORMAL, style, wrapped[i]));
}

/* The warning that records of other nodes are old goes above them: in the title, if the screen has no row for
 * it. */
static void add_brokerless(GPtrArray *lines, const AldView *view)
{
        const AldFindingRow *finding = ald_find_brokerless(view->model);
        g_autofree char *text = finding ? ald_finding_words(finding) : NULL;
        g_autofree char *remedy = finding ? ald_finding_remedy_words(finding) : NULL;
        unsigned least = 1 + MIN(ald_model_nodes(view->model)->len, NODES_LEAST) + 1; /* header and keys */
        unsigned room = view->rows == 0                   ? 0
                        : view->rows > lines->len + least ? view->rows - lines->len - least
                                                          : 1;

        if (!text)
                return;
        if (view->rows > 0 && view->rows <= lines->len + least)
                g_ptr_array_set_size(lines, (int) lines->len - 1);
        add_sentence(lines, view, ALD_STYLE_ERROR, text, room);
        if (remedy && has_room(view, lines->len, REMEDY_ROWS))
                add_sentence(lines, view, "", remedy, REMEDY_ROWS);
}

static void add_total(GPtrArray *lines, const AldView *view, const char *label, char *value)
{
        g_autofree char *text = value;

        add_line(lines, view, g_strdup_printf("%-16s  %s", label, text));
}

/* Returns the number of rows that add_totals() takes. */
static unsigned count_totals(const AldView *view)
{
        g_autofree char *fp32 = ald_cluster_fp32(view->model), *power = ald_cluster_power(view->model);

        return TOTALS_ROWS + (fp32 ? 1 : 0) + (power ? 1 : 0);
}

static void add_totals(GPtrArray *lines, const AldView *view)
{
        char *fp32 = ald_cluster_fp32(view->model), *power = ald_cluster_power(view->model);

        add_total(lines, view, ald_cluster_has_fp32_only(view->model) ? "FP32 compute" : "FP16 compute",
                ald_cluster_compute(view->model));
        if (fp32)
                add_total(lines, view, "FP32 compute", fp32);
        add_total(lines, view, "Memory bandwidth", ald_cluster_bandwidth(view->model));
        add_total(lines, view, "Memory", ald_cluster_memory(view->model));
        if (power)
                add_total(lines, view, "Power", power);
        add_line(lines, view, g_strdup(""));
}

static void add_finding(GPtrArray *lines, const AldView *view, const AldFindingRow *finding)
{
        AldTone tone;
        g_autofree char *severity = ald_finding_severity(finding, &tone);
        g_autofree char *words = ald_finding_words(finding);

        if (words)
                add_line(lines, view,
                        g_strdup_printf(
                                "  %s%s" ALD_STYLE_NORMAL " %s", ald_tone_style(tone), severity, words));
}

/* Returns the most severe findings that fit into the rows, the summary included. */
static GPtrArray *findings_lines(const AldView *view, unsigned rows)
{
        g_autoptr(GPtrArray) findings = ald_findings_sorted(view->model, NULL);
        GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

        add_total(lines, view, "Findings", ald_describe_findings_counts(view->model));
        for (guint i = 0; i < findings->len && (rows == 0 || lines->len < rows); i++)
                if (findings->pdata[i] != ald_find_brokerless(view->model))
                        add_finding(lines, view, findings->pdata[i]);
        if (rows > 0 && lines->len > rows)
                g_ptr_array_set_size(lines, (int) rows);
        return lines;
}

/* Devices are shown below their nodes only if everything fits, since they cannot be scrolled. */
static bool has_room_for_devices(const AldView *view, unsigned rows)
{
        const GPtrArray *nodes = ald_model_nodes(view->model);
        unsigned needed = nodes->len;

        for (guint i = 0; i < nodes->len && rows > 0; i++) {
                g_autoptr(GArray) devices = ald_node_table_devices(nodes->pdata[i]);

                if (needed > rows)
                        return false;
                needed += devices->len;
        }
        return rows == 0 || needed <= rows;
}

/* Returns the rows of the nodes on the page; they are all made if they have to be sorted. The options are
 * known to be valid. */
static GArray *list_rows(const AldView *view, const AldCtl *ctl)
{
        const GPtrArray *nodes = ald_model_nodes(view->model);
        GArray *rows;

        if (!ctl->sort)
                return ald_node_table_rows(view->model, view->first, view->page, view->now_usec);
        rows = ald_node_table_rows(view->model, 0, nodes->len, view->now_usec);
        (void) ald_column_table_sort(ctl, &ald_node_column_list, rows);
        g_array_set_size(rows, view->first + view->page);
        g_array_remove_range(rows, 0, view->first);
        return rows;
}

static void add_table(GPtrArray *lines, const AldView *view, AldTable *table)
{
        for (int row = -1; row < (int) ald_table_rows(table); row++)
                add_line(lines, view, ald_table_line(table, row));
}

/* Adds the header and the nodes (0 rows: no limit). */
static void add_nodes(GPtrArray *lines, AldView *view, unsigned rows)
{
        static const AldCtl no_options;
        const AldCtl *ctl = view->ctl ?: &no_options;
        const GPtrArray *nodes = ald_model_nodes(view->model);
        g_auto(AldColumnChoice) choice = {};
        g_autoptr(AldTable) table = NULL;
        g_autoptr(GArray) shown = NULL;
        unsigned body = rows == 0 ? 0 : MAX(rows, 2) - 1;
        bool devices = has_room_for_devices(view, body);

        (void) ald_node_table_choose(ctl, ALD_NODE_TABLE_LIVE, &choice);
        table = ald_column_table_new(&choice);
        view->total = nodes->len;
        view->page = rows == 0 || devices ? nodes->len : MIN(body, nodes->len);
        view->first = MIN(view->first, nodes->len - view->page);
        shown = list_rows(view, ctl);
        for (guint i = 0; i < shown->len; i++) {
                const AldNodeRow *row = &g_array_index(shown, AldNodeRow, i);

                ald_column_table_add(table, &choice, row);
                if (devices)
                        ald_node_table_add_devices(table, &choice, row);
        }
        ald_table_layout(table, view->columns, view->widths);
        add_table(lines, view, table);
}

/* Adds the header and the devices. */
static void add_devices(GPtrArray *lines, AldView *view, unsigned rows)
{
        static const AldCtl no_options;
        g_auto(AldColumnChoice) choice = {};
        g_autoptr(AldTable) table = NULL;
        guint n_unlisted;
        g_autoptr(GArray) devices = ald_device_table_rows(
                view->model, ald_model_nodes(view->model), view->now_usec, &n_unlisted);

        (void) ald_device_table_choose(&no_options, &choice);
        table = ald_column_table_new(&choice);
        view->total = devices->len;
        view->page = rows == 0 ? devices->len : MIN(MAX(rows, 2) - 1, devices->len);
        view->first = MIN(view->first, devices->len - view->page);
        for (guint i = 0; i < view->page; i++)
                ald_column_table_add(table, &choice, &g_array_index(devices, AldDeviceRow, view->first + i));
        ald_table_layout(table, view->columns, view->device_widths);
        add_table(lines, view, table);
}

static guint count_edges_between_nodes(const AldTopology *topology)
{
        guint n = 0;

        for (guint i = 0; topology && i < topology->edges->len; i++)
                n += !ald_edge_is_within_node(topology->edges->pdata[i]);
        return n;
}

/* Returns an empty list if there are too many links to draw. */
static GPtrArray *list_links(const AldView *view)
{
        const AldTopology *topology = ald_model_topology(view->model);

        if (ald_model_shown_links(view->model)->len > LINKS_MAX ||
                count_edges_between_nodes(topology) > 4 * LINKS_MAX)
                return g_ptr_array_new();
        return ald_link_summaries_with_untried(view->model, view->now_usec);
}

/* Returns how many of these rows (0: no limit) remain for the links. */
static unsigned rows_for_links(const AldView *view, const GPtrArray *links, unsigned rows)
{
        unsigned n_links = links->len, n_nodes = ald_model_nodes(view->model)->len;

        if (n_links == 0 || n_links > LINKS_MAX)
                return 0;
        if (rows == 0)
                return MIN(n_links, LINKS_ONCE) + 2;
        return rows >= n_nodes + 1 + LINKS_LEAST ? MIN(n_links + 2, rows - n_nodes - 1) : 0;
}

/* Adds the links; the last row counts those that do not fit. */
static void add_links(GPtrArray *lines, AldView *view, const GPtrArray *links, unsigned rows)
{
        g_autoptr(AldTable) table = NULL;
        unsigned shown;

        if (rows < LINKS_LEAST)
                return;
        shown = links->len <= rows - 2 ? links->len : rows - 3;
        table = ald_link_table_new(links, shown, view->columns, view->link_widths);
        add_line(lines, view, g_strdup(""));
        for (int row = -1; row < (int) shown; row++)
                add_line(lines, view, ald_table_line(table, row));
        if (shown < links->len)
                add_line(lines, view,
                        g_strdup_printf(
                                ALD_STYLE_DIM "… %u more links" ALD_STYLE_NORMAL, links->len - shown));
}

/* Forgets the widths of columns if the width of the terminal has changed. */
static void reset_stale_widths(AldView *view)
{
        if (view->widths_for != view->columns) {
                memset(view->widths, 0, sizeof(view->widths));
                memset(view->device_widths, 0, sizeof(view->device_widths));
                memset(view->link_widths, 0, sizeof(view->link_widths));
        }
        view->widths_for = view->columns;
}

static char *format_keys(const AldView *view)
{
        const char *other = view->devices ? "nodes" : "devices";

        if (view->page >= view->total)
                return g_strdup_printf(ALD_STYLE_DIM "q quits · d shows %s" ALD_STYLE_NORMAL, other);
        return g_strdup_printf(ALD_STYLE_DIM
                "q quits · d shows %s · ↑↓ PgUp PgDn scroll · %u–%u of %u" ALD_STYLE_NORMAL,
                other, view->first + 1, view->first + view->page, view->total);
}

GPtrArray *ald_view_lines(AldView *view)
{
        GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray)
                findings = findings_lines(view, MAX(view->rows / FINDINGS_SHARE, view->rows ? 1 : 0));
        g_autoptr(GPtrArray) links = NULL;
        unsigned body, links_rows, below, title;

        reset_stale_widths(view);
        add_title(lines, view);
        add_brokerless(lines, view);
        title = lines->len;
        if (!has_room(view, title, findings->len + 1))
                g_ptr_array_set_size(findings, 0);
        below = findings->len > 0 ? findings->len + 2 : 1; /* includes a blank line and the keys */
        if (has_room(view, title, count_totals(view) + below - 1))
                add_totals(lines, view);
        body = view->rows == 0 ? 0 : view->rows > lines->len + below ? view->rows - lines->len - below : 2;
        links = list_links(view);
        links_rows = rows_for_links(view, links, body);
        if (view->devices)
                add_devices(lines, view, body == 0 ? 0 : body - links_rows);
        else
                add_nodes(lines, view, body == 0 ? 0 : body - links_rows);
        add_links(lines, view, links, links_rows);
        if (view->rows == 0)
                add_line(lines, view, g_strdup(""));
        else
                while (lines->len + findings->len + 1 < view->rows)
                        add_line(lines, view, g_strdup(""));
        for (guint i = 0; i < findings->len; i++)
                g_ptr_array_add(lines, g_strdup(findings->pdata[i]));
        if (view->rows > 0)
                add_line(lines, view, format_keys(view));
        return lines;
}
