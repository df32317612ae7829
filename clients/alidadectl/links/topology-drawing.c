/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"

#define WIDE_CELL 10   /* "9.41 Gb/s≠" */
#define COMPACT_CELL 6 /* "9.41G≠", "14.9µs" */
#define NAME_LEAST 6   /* least width of the names of rows, if columns are numbered */
#define NUMBER_WIDTH 2 /* "1 " before such a name */
#define GAP 2
#define LISTED_MAX 10u /* pairs of a large cluster */
#define COMPACT_BELOW 48

/* The layout of a matrix. */
typedef struct Layout {
        const AldTopologySummary *summary;
        bool compact; /* numbers over the columns, and short rates */
        unsigned label, cell;
        unsigned marks; /* bits of Mark that were used */
} Layout;

/* Signs beside or instead of a rate, which are explained below the matrix. */
typedef enum Mark {
        MARK_ASYMMETRIC,
        MARK_STALE,
        MARK_WITHOUT_IP,
        MARK_UNMEASURED,
        MARK_CANDIDATE,
        MARK_OFFLINE,
        MARK_UNKNOWN,
        MARK_NO_PATH,
        MARK_N,
} Mark;

static const struct {
        const char *sign, *word; /* beside a rate; instead of a rate */
        const char *meaning;
        const char *style;
} marks[MARK_N] = {
        [MARK_ASYMMETRIC] = { "≠", NULL, NULL, ALD_STYLE_WARNING },
        [MARK_STALE] = { "~", NULL, "a node at its end has not been heard from for some seconds",
                ALD_STYLE_WARNING },
        [MARK_WITHOUT_IP] = { "°", NULL, "there is no path over IP", "" },
        [MARK_UNMEASURED] = { NULL, "?", "not measured yet", ALD_STYLE_DIM },
        [MARK_CANDIDATE] = { NULL, "(?)", "not measured, and possibly not connected", ALD_STYLE_DIM },
        [MARK_OFFLINE] = { NULL, "×", "offline, or no path can be used", ALD_STYLE_ERROR },
        [MARK_UNKNOWN] = { NULL, "…", "it is unknown whether a node at its end is online", ALD_STYLE_DIM },
        [MARK_NO_PATH] = { NULL, ALD_ABSENT_TEXT, "no path is known, or no rate in this direction",
                ALD_STYLE_DIM },
};

char *ald_topology_rate(uint64_t rate, bool compact)
{
        char *text = ald_format_bits_per_second(ald_uint64_to_double(rate)), *blank = strchr(text, ' ');

        if (compact && blank) {
                blank[0] = blank[1] == 'b' ? '\0' : blank[1];
                blank[blank[0] ? 1 : 0] = '\0';
        }
        return text;
}

static const char *node_name(const AldTopologySummary *summary, unsigned index)
{
        return ((const AldTopologyNode *) summary->nodes->pdata[index])->name;
}

static unsigned total_width(const Layout *layout)
{
        return layout->label + 1 + layout->summary->nodes->len * (GAP + layout->cell);
}

/* Chooses a layout that fits; returns false if there is none. */
static bool choose_layout(Layout *layout, unsigned columns)
{
        unsigned widest = 0, rest;

        for (guint i = 0; i < layout->summary->nodes->len; i++)
                widest = MAX(widest, ald_text_width(node_name(layout->summary, i)));
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
        const char *name = node_name(layout->summary, row);
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
        const AldTopologySummary *summary = layout->summary;

        g_string_append_printf(out, "%*s│", (int) layout->label, "");
        for (guint i = 0; i < summary->nodes->len; i++) {
                g_autofree char *title = layout->compact ? g_strdup_printf("%u ", i + 1)
                                                         : g_strdup(node_name(summary, i));
                g_autofree char *bold = g_strconcat(ALD_STYLE_BOLD, title, ALD_STYLE_NORMAL, NULL);

                append_cell(out, layout, bold);
        }
        g_string_append_c(out, '\n');
        for (unsigned i = 0; i < total_width(layout); i++)
                g_string_append(out, i == layout->label ? "┼" : "─");
        g_string_append_c(out, '\n');
}

static bool is_measured(const AldNodePair *pair)
{
        return pair->there != ALD_ABSENT_UINT64 || pair->back != ALD_ABSENT_UINT64 ||
               pair->rtt != ALD_ABSENT_UINT64;
}

/* Returns the most important mark; MARK_N for none. */
static Mark mark_of(const AldNodePair *pair)
{
        static const struct {
                AldEdgeRowPresence presence;
                Mark mark;
        } by_presence[] = {
                { ALD_EDGE_ROW_PRESENCE_OFFLINE, MARK_OFFLINE },
                { ALD_EDGE_ROW_PRESENCE_UNKNOWN, MARK_UNKNOWN },
                { ALD_EDGE_ROW_PRESENCE_UNMEASURED, MARK_UNMEASURED },
                { ALD_EDGE_ROW_PRESENCE_CANDIDATE, MARK_CANDIDATE },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(by_presence); i++)
                if (ald_presence_is(pair->row->presence, by_presence[i].presence))
                        return by_presence[i].mark;
        if (!is_measured(pair))
                return MARK_UNMEASURED;
        if (ald_presence_is(pair->row->presence, ALD_EDGE_ROW_PRESENCE_STALE))
                return MARK_STALE;
        if (ald_node_pair_is_asymmetric(pair))
                return MARK_ASYMMETRIC;
        return ald_node_pair_is_without_ip(pair) ? MARK_WITHOUT_IP : MARK_N;
}

/* A blank takes the place of a missing mark, so that the rates are aligned. */
static char *describe_rate(Layout *layout, unsigned from, unsigned to)
{
        const AldNodePair *pair = ald_topology_summary_find(layout->summary, from, to);
        g_autofree char *rate = NULL;
        Mark mark;

        if (from == to)
                return g_strdup(ALD_STYLE_DIM "· " ALD_STYLE_NORMAL);
        mark = pair ? mark_of(pair) : MARK_NO_PATH;
        if (mark < MARK_N)
                layout->marks |= 1u << mark;
        if (mark < MARK_N && marks[mark].word)
                return g_strdup_printf("%s%s " ALD_STYLE_NORMAL, marks[mark].style, marks[mark].word);
        rate = ald_topology_rate(from < to ? pair->there : pair->back, layout->compact);
        return mark < MARK_N
                       ? g_strdup_printf("%s%s%s" ALD_STYLE_NORMAL, marks[mark].style, rate, marks[mark].sign)
                       : g_strdup_printf("%s ", rate);
}

/* Returns RTT/2, empty if there is none. If space is short, the blank below the mark is omitted. */
static char *describe_delay(Layout *layout, unsigned from, unsigned to)
{
        const AldNodePair *pair = ald_topology_summary_find(layout->summary, from, to);
        g_autofree char *delay = NULL;
        char *blank;

        if (from == to || !pair || pair->rtt == ALD_ABSENT_UINT64)
                return g_strdup("");
        delay = ald_format_nsec(ald_uint64_to_double(pair->rtt) / 2);
        blank = layout->compact ? strchr(delay, ' ') : NULL;
        if (blank)
                memmove(blank, blank + 1, strlen(blank));
        return g_strdup_printf(ALD_STYLE_DIM "%s%s" ALD_STYLE_NORMAL, delay, layout->compact ? "" : " ");
}

static void append_line(GString *out, const char *text, unsigned columns)
{
        ald_text_wrap(out, text, columns, 0);
        g_string_append_c(out, '\n');
}

/* Describes each asymmetric pair in words, and explains the other marks. */
static void explain_marks(GString *out, const Layout *layout, unsigned columns)
{
        const AldTopologySummary *summary = layout->summary;

        for (guint i = 0; i < summary->pairs->len; i++) {
                const AldNodePair *pair = summary->pairs->pdata[i];
                g_autofree char *there = ald_format_bits_per_second(ald_uint64_to_double(pair->there)),
                                *text = NULL;
                g_autofree char *back = ald_format_bits_per_second(ald_uint64_to_double(pair->back));

                if (mark_of(pair) != MARK_ASYMMETRIC)
                        continue;
                text = g_strdup_printf("≠ asymmetric: %s from %s to %s, %s back", there,
                        node_name(summary, pair->a), node_name(summary, pair->b), back);
                append_line(out, text, columns);
        }
        for (Mark mark = 0; mark < MARK_N; mark++) {
                g_autofree char *text = NULL;

                if (!marks[mark].meaning || !(layout->marks & 1u << mark))
                        continue;
                text = g_strdup_printf("%s %s", marks[mark].word ?: marks[mark].sign, marks[mark].meaning);
                append_line(out, text, columns);
        }
}

typedef char *(*Describe)(Layout *layout, unsigned from, unsigned to);

static void append_row(GString *out, Layout *layout, unsigned row, Describe describe)
{
        for (guint column = 0; column < layout->summary->nodes->len; column++) {
                g_autofree char *text = describe(layout, row, column);

                append_cell(out, layout, text);
        }
        g_string_append_c(out, '\n');
}

static bool has_delay(Layout *layout, unsigned row)
{
        for (guint column = 0; column < layout->summary->nodes->len; column++) {
                g_autofree char *text = describe_delay(layout, row, column);

                if (*text)
                        return true;
        }
        return false;
}

/* Returns false and draws nothing if the matrix does not fit. */
static bool draw_matrix(GString *out, const AldTopologySummary *summary, unsigned columns)
{
        Layout layout = { .summary = summary };

        if (!choose_layout(&layout, columns))
                return false;
        append_line(out,
                "From the node at the left to the one at the top, over the best path; RTT/2 below:", columns);
        append_header(out, &layout);
        for (guint row = 0; row < summary->nodes->len; row++) {
                append_label(out, &layout, row);
                append_row(out, &layout, row, describe_rate);
                if (!has_delay(&layout, row))
                        continue;
                g_string_append_printf(out, "%*s│", (int) layout.label, "");
                append_row(out, &layout, row, describe_delay);
        }
        explain_marks(out, &layout, columns);
        return true;
}

/* The three columns that are never dropped fit into 20 columns of the terminal. */
static const AldColumn pair_columns[] = {
        { "NODES", .least = 6, .flexible = true },
        { "→", .right = true },
        { "←", .right = true },
        { "RTT/2", .right = true, .priority = 2 },
        { "TYPE", .priority = 3 },
        { "NOTE", .priority = 1 },
};

static char *describe_note(const AldNodePair *pair)
{
        Mark mark = mark_of(pair);

        if (mark == MARK_N)
                return g_strdup("");
        return g_strdup_printf("%s%s" ALD_STYLE_NORMAL, marks[mark].style,
                mark == MARK_ASYMMETRIC   ? "≠ asymmetric"
                : mark == MARK_STALE      ? "stale"
                : mark == MARK_WITHOUT_IP ? "without IP"
                : mark == MARK_CANDIDATE  ? "possible"
                                          : marks[mark].meaning);
}

static void append_pairs(GString *out, const AldTopologySummary *summary, AldNodePair *const *pairs,
        unsigned n, unsigned columns)
{
        g_autoptr(AldTable) table = ald_table_new(pair_columns, G_N_ELEMENTS(pair_columns));
        bool compact = columns > 0 && columns < COMPACT_BELOW;

        for (unsigned i = 0; i < n; i++) {
                const char *type = pairs[i]->row->type;

                ald_table_add(table, g_strdup_printf("%s ↔ %s", node_name(summary, pairs[i]->a),
                                             node_name(summary, pairs[i]->b)));
                ald_table_add(table, ald_topology_rate(pairs[i]->there, compact));
                ald_table_add(table, ald_topology_rate(pairs[i]->back, compact));
                ald_table_add(table, ald_format_nsec(ald_uint64_to_double(pairs[i]->rtt) / 2));
                ald_table_add(table, ald_text_safe(type ?: ALD_ABSENT_TEXT));
                ald_table_add(table, describe_note(pairs[i]));
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}

/* An absent rate is the greatest value, so a known one counts. */
static uint64_t slower_rate(const AldNodePair *pair)
{
        return MIN(pair->there, pair->back);
}

/* Returns the ratio of the faster direction to the other; 1 if one of them is unknown. */
static double asymmetry_of(const AldNodePair *pair)
{
        double there = ald_uint64_to_double(pair->there), back = ald_uint64_to_double(pair->back);
        double ratio = fmax(there, back) / fmin(there, back);

        return isnan(there) || isnan(back) || isnan(ratio) ? 1 : ratio;
}

static int compare_slowness(const void *a, const void *b)
{
        const AldNodePair *const *x = a, *const *y = b;

        return slower_rate(*x) < slower_rate(*y) ? -1 : slower_rate(*x) > slower_rate(*y);
}

static int compare_asymmetry(const void *a, const void *b)
{
        const AldNodePair *const *x = a, *const *y = b;

        return asymmetry_of(*x) > asymmetry_of(*y) ? -1 : asymmetry_of(*x) < asymmetry_of(*y);
}

/* Appends, for example, "Pairs that are not measured yet: 3. Pairs that are offline: 2." */
static void append_counts(GString *out, const AldTopologySummary *summary, unsigned columns)
{
        unsigned unmeasured = 0, offline = 0;
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < summary->pairs->len; i++) {
                Mark mark = mark_of(summary->pairs->pdata[i]);

                unmeasured += mark == MARK_UNMEASURED || mark == MARK_CANDIDATE;
                offline += mark == MARK_OFFLINE;
        }
        if (unmeasured > 0)
                g_string_append_printf(text, "Pairs that are not measured yet: %u. ", unmeasured);
        if (offline > 0)
                g_string_append_printf(text, "Pairs that are offline: %u.", offline);
        if (text->len == 0)
                return;
        g_string_append_c(out, '\n');
        append_line(out, g_strchomp(text->str), columns);
}

/* If there are many pairs, draws only the most interesting ones: the slowest and the most asymmetric. */
static void draw_extremes(GString *out, const AldTopologySummary *summary, unsigned columns)
{
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();
        g_autofree char *title = NULL, *note = NULL;
        unsigned shown, asymmetric = 0;

        for (guint i = 0; i < summary->pairs->len; i++)
                if (slower_rate(summary->pairs->pdata[i]) != ALD_ABSENT_UINT64)
                        g_ptr_array_add(sorted, summary->pairs->pdata[i]);
        shown = MIN(sorted->len, LISTED_MAX);
        if (shown > 0) {
                title = g_strdup_printf("The slowest of %u measured pairs:", sorted->len);
                g_ptr_array_sort(sorted, compare_slowness);
                append_line(out, title, columns);
                append_pairs(out, summary, (AldNodePair *const *) sorted->pdata, shown, columns);
                g_ptr_array_sort(sorted, compare_asymmetry);
        }
        while (asymmetric < shown && ald_node_pair_is_asymmetric(sorted->pdata[asymmetric]))
                asymmetric++;
        if (asymmetric > 0) {
                g_string_append_c(out, '\n');
                append_line(out, "The most asymmetric ones:", columns);
                append_pairs(out, summary, (AldNodePair *const *) sorted->pdata, asymmetric, columns);
        }
        append_counts(out, summary, columns);
        note = g_strdup_printf(
                "%u nodes are too many to draw. --all shows all paths, \"alidadectl links NODE\" the "
                "measurements of one node.",
                summary->nodes->len);
        g_string_append_c(out, '\n');
        append_line(out, note, columns);
}

void ald_topology_draw(GString *out, const AldTopologySummary *summary, unsigned columns)
{
        if (summary->pairs->len == 0)
                g_string_append(out, "No link between nodes is known yet.\n");
        else if (summary->nodes->len > ALD_DRAWING_NODES_MAX)
                draw_extremes(out, summary, columns);
        else if (!draw_matrix(out, summary, columns))
                append_pairs(out, summary, (AldNodePair *const *) summary->pairs->pdata, summary->pairs->len,
                        columns);
}

static const AldColumn edge_columns[] = {
        { "EDGE", .least = 9 },
        { "PATH" },
        { "TYPE" },
        { "RATE", .right = true },
        { "RTT/2", .right = true },
        { "AGE", .right = true },
        { "STATE" },
};

/* The same columns without the path, for a terminal that is too narrow for them. */
static const AldColumn narrow_edge_columns[] = {
        { "EDGE", .least = 9, .flexible = true, .wanted = 33 }, /* two names of 15 */
        { "TYPE", .priority = 5 },
        { "RATE", .right = true, .priority = 1 },
        { "RTT/2", .right = true, .priority = 4 },
        { "AGE", .right = true, .priority = 6 },
        { "STATE", .least = 9, .flexible = true },
};

/* Returns the age of the rate, or of the round trip if there is no rate; by the clock of the node that
 * measured. */
static char *describe_age(AldModel *model, const AldEdgeRow *edge, double now_usec)
{
        const AldEntity *prober = ald_model_get(model, edge->prober);
        uint64_t measured = edge->measured_usec == ALD_ABSENT_UINT64 ? edge->rtt_measured_usec
                                                                     : edge->measured_usec;

        return ald_format_age(
                ald_uint64_to_double(measured), prober ? ald_node_now(prober, now_usec) : now_usec);
}

/* Sorts by the names of the nodes, then by the ids of the edges. */
static gint compare_edges(gconstpointer a, gconstpointer b, gpointer userdata)
{
        const AldEdgeRow *x = *(const AldEdgeRow *const *) a, *y = *(const AldEdgeRow *const *) b;
        const AldTopologySummary *summary = userdata;
        guint source = ald_topology_summary_index(summary, x->source),
              other_source = ald_topology_summary_index(summary, y->source);
        guint sink = ald_topology_summary_index(summary, x->sink),
              other_sink = ald_topology_summary_index(summary, y->sink);

        if (source != other_source)
                return source < other_source ? -1 : 1;
        if (sink != other_sink)
                return sink < other_sink ? -1 : 1;
        return x->id < y->id ? -1 : x->id > y->id;
}

static GPtrArray *list_edges(const AldTopology *topology, const AldTopologySummary *summary)
{
        GPtrArray *edges = g_ptr_array_new();

        for (guint i = 0; i < topology->edges->len; i++)
                if (!ald_edge_is_within_node(topology->edges->pdata[i]))
                        g_ptr_array_add(edges, topology->edges->pdata[i]);
        g_ptr_array_sort_with_data(edges, compare_edges, (gpointer) summary);
        return edges;
}

static AldTable *make_edge_table(AldModel *model, const AldTopologySummary *summary, const GPtrArray *edges,
        bool with_path, double now_usec)
{
        AldTable *table = with_path ? ald_table_new(edge_columns, G_N_ELEMENTS(edge_columns))
                                    : ald_table_new(narrow_edge_columns, G_N_ELEMENTS(narrow_edge_columns));

        for (guint i = 0; i < edges->len; i++) {
                const AldEdgeRow *edge = edges->pdata[i];
                g_autofree char *state = NULL;
                AldTone tone;

                state = ald_edge_state_words(edge, &tone);
                ald_table_add(
                        table, g_strdup_printf("%s → %s", ald_topology_summary_name(summary, edge->source),
                                       ald_topology_summary_name(summary, edge->sink)));
                if (with_path)
                        ald_table_add(table, ald_edge_path_words(edge));
                ald_table_add(table, ald_edge_type_words(edge));
                ald_table_add(table, ald_format_bits_per_second(ald_uint64_to_double(edge->bits_per_second)));
                ald_table_add(table, ald_format_nsec(ald_uint64_to_double(edge->rtt_p50_nsec) / 2));
                ald_table_add(table, describe_age(model, edge, now_usec));
                ald_table_add(table, ald_text_toned(tone, state));
        }
        return table;
}

/* Returns true if the lines of a table that was not cut fit. */
static bool table_fits(AldTable *table, unsigned columns)
{
        for (int row = -1; row < (int) ald_table_rows(table); row++) {
                g_autofree char *line = ald_table_line(table, row);

                if (columns > 0 && ald_text_width(line) > columns)
                        return false;
        }
        return true;
}

/* Appends each path below its edge: an address that is cut could not be told from others of its network. */
static void append_paths_below(GString *out, AldTable *table, const GPtrArray *edges, unsigned columns)
{
        ald_table_layout(table, columns, NULL);
        for (int row = -1; row < (int) edges->len; row++) {
                g_autofree char *line = ald_table_line(table, row), *path = NULL;

                g_string_append_printf(out, "%s\n", line);
                if (row < 0)
                        continue;
                path = ald_edge_path_words(edges->pdata[row]);
                g_string_append(out, "    ");
                ald_text_wrap(out, path, columns, 4);
                g_string_append_c(out, '\n');
        }
}

void ald_topology_list(GString *out, AldModel *model, const AldTopology *topology,
        const AldTopologySummary *summary, unsigned columns, double now_usec)
{
        g_autoptr(GPtrArray) edges = list_edges(topology, summary);
        g_autoptr(AldTable) whole = make_edge_table(model, summary, edges, true, now_usec);
        g_autoptr(AldTable) narrow = make_edge_table(model, summary, edges, false, now_usec);

        ald_table_layout(whole, 0, NULL);
        if (edges->len == 0)
                g_string_append(out, "No link between nodes is known yet.\n");
        else if (table_fits(whole, columns))
                ald_table_append(out, whole);
        else
                append_paths_below(out, narrow, edges, columns);
}

/* Appends a quoted string of the DOT language. */
static void append_quoted(GString *out, const char *text)
{
        g_string_append_c(out, '"');
        for (; *text; text++) {
                if (*text == '"' || *text == '\\' || *text == '\n')
                        g_string_append_c(out, '\\');
                g_string_append_c(out, *text == '\n' ? 'n' : *text);
        }
        g_string_append_c(out, '"');
}

/* Appends "→ birch 9.41 Gb/s", "→ alder 9.40 Gb/s" and "18.2 µs" in three lines. The arrows need names, since
 * a line of the graph may be drawn vertically. */
static void append_label_of_pair(GString *out, const AldTopologySummary *summary, const AldNodePair *pair)
{
        g_autofree char *there = ald_topology_rate(pair->there, false),
                        *back = ald_topology_rate(pair->back, false);
        g_autofree char *delay = ald_format_nsec(ald_uint64_to_double(pair->rtt) / 2);
        g_autoptr(GString) label = g_string_new(NULL);

        if (pair->there != ALD_ABSENT_UINT64 || pair->back != ALD_ABSENT_UINT64)
                g_string_append_printf(label, "→ %s %s\n→ %s %s", node_name(summary, pair->b), there,
                        node_name(summary, pair->a), back);
        if (pair->rtt != ALD_ABSENT_UINT64)
                g_string_append_printf(label, "%s%s", label->len > 0 ? "\n" : "", delay);
        if (label->len == 0 && pair->row->type)
                g_string_append(label, pair->row->type);
        append_quoted(out, label->str);
}

static const char *line_style(const char *presence)
{
        if (ald_presence_is(presence, ALD_EDGE_ROW_PRESENCE_LIVE))
                return "style=solid";
        if (ald_presence_is(presence, ALD_EDGE_ROW_PRESENCE_STALE))
                return "style=solid color=\"#b58900\"";
        if (ald_presence_is(presence, ALD_EDGE_ROW_PRESENCE_CANDIDATE))
                return "style=dotted";
        return ald_presence_is(presence, ALD_EDGE_ROW_PRESENCE_UNMEASURED)
                       ? "style=dashed"
                       : "style=dashed color=gray70 fontcolor=gray50";
}

static void append_dot_pairs(GString *out, const AldTopologySummary *summary)
{
        for (guint i = 0; i < summary->pairs->len; i++) {
                const AldNodePair *pair = summary->pairs->pdata[i];

                g_string_append_printf(
                        out, "  n%u -- n%u [%s label=", pair->a, pair->b, line_style(pair->row->presence));
                append_label_of_pair(out, summary, pair);
                g_string_append(out, "];\n");
        }
}

static void append_dot_edges(GString *out, const AldTopology *topology, const AldTopologySummary *summary)
{
        for (guint i = 0; i < topology->edges->len; i++) {
                const AldEdgeRow *edge = topology->edges->pdata[i];
                unsigned source = ald_topology_summary_index(summary, edge->source);
                unsigned sink = ald_topology_summary_index(summary, edge->sink);
                g_autofree char *rate = ald_topology_rate(edge->bits_per_second, false);
                g_autofree char *type = ald_edge_type_words(edge), *label = NULL;

                if (source == 0 || sink == 0 || ald_edge_is_within_node(edge))
                        continue;
                label = edge->bits_per_second == ALD_ABSENT_UINT64 ? g_strdup(type)
                                                                   : g_strdup_printf("%s\n%s", type, rate);
                g_string_append_printf(
                        out, "  n%u -> n%u [%s label=", source - 1, sink - 1, line_style(edge->presence));
                append_quoted(out, label);
                g_string_append(out, "];\n");
        }
}

/* Only the layout in ranks keeps labels apart if many lines join the same two nodes. */
void ald_topology_write_dot(
        GString *out, const AldTopology *topology, const AldTopologySummary *summary, bool all)
{
        g_string_append_printf(out,
                "%s alidade {\n"
                "  graph [%s];\n"
                "  node [shape=box style=\"rounded,filled\" fillcolor=white fontname=\"sans-serif\"];\n"
                "  edge [fontname=\"sans-serif\" fontsize=10 len=2.6];\n",
                all ? "digraph" : "graph",
                all ? "layout=dot rankdir=LR nodesep=0.3 ranksep=1.2"
                    : "layout=neato overlap=false splines=true sep=\"+24\" esep=\"+12\"");
        for (guint i = 0; i < summary->nodes->len; i++) {
                const AldTopologyNode *node = summary->nodes->pdata[i];
                bool present = g_strcmp0(node->row->presence, "online") == 0;

                g_string_append_printf(out, "  n%u [label=", i);
                append_quoted(out, node->name);
                g_string_append(out, present ? "];\n" : " color=gray70 fontcolor=gray50];\n");
        }
        if (all)
                append_dot_edges(out, topology, summary);
        else
                append_dot_pairs(out, summary);
        g_string_append(out, "}\n");
}
