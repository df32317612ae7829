/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/history/history-text.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/columns/finding-columns.h"
#include "clients/common/finding-display.h"
#include "clients/common/node-summary.h"
#include "clients/common/sparkline.h"

#define COLUMNS 80u
#define SPARK_LEAST 20u /* a narrower one gets a line of its own */
#define NUMBER_WIDTH 6u /* "<0.001" */
#define UNIT_WIDTH 6u   /* "TFLOPS" */
#define N_NUMBERS 4u
#define NUMBERS_WIDTH (N_NUMBERS * (NUMBER_WIDTH + 1) + 1 + UNIT_WIDTH)
#define INDENT 2u
#define MINUTE_USEC (UINT64_C(60) * 1000 * 1000)
#define HOUR_USEC (60 * MINUTE_USEC)
#define DAY_USEC (24 * HOUR_USEC)
#define MINUTES_KEPT_USEC (30 * DAY_USEC) /* how long the service keeps minutes; older figures are hourly */
#define TITLE "FIGURE"
#define EVENTS_WIDE 60u

/* The widths of the parts of the text. */
typedef struct Layout {
        unsigned columns;
        unsigned label_width;
        unsigned spark_width;
        uint64_t part_usec; /* the shortest time that a character may stand for, for figures that are sent all
                               the time */
        bool narrow;        /* figures and sparkline have lines of their own */
} Layout;

static Layout make_layout(const AldHistoryView *view, unsigned columns, uint64_t now_usec)
{
        const GPtrArray *series = view->series;
        bool is_old = view->from_usec + MINUTES_KEPT_USEC < now_usec;
        Layout layout = { .columns = columns > 0 ? columns : COLUMNS,
                .label_width = strlen(TITLE),
                .part_usec = is_old ? HOUR_USEC : MINUTE_USEC };
        unsigned taken;

        for (guint i = 0; i < series->len; i++) {
                const AldShownSeries *shown = series->pdata[i];
                unsigned width = ald_text_width(shown->label) + (shown->group ? INDENT : 0);

                layout.label_width = MAX(layout.label_width, width);
        }
        taken = layout.label_width + 2 + NUMBERS_WIDTH;
        layout.narrow = taken + SPARK_LEAST > layout.columns;
        layout.spark_width = layout.narrow ? layout.columns : layout.columns - taken;
        return layout;
}

/* Figures are sent twice a minute, and old ones are kept by the hour. No part is shorter than that, so that a
 * gap always means missing data. */
static unsigned count_cells(
        const Layout *layout, const AldShownSeries *series, uint64_t from_usec, uint64_t to_usec)
{
        uint64_t parts = (to_usec - from_usec) / layout->part_usec;

        unsigned most = MIN(layout->spark_width, ALD_SHOWN_POINTS);

        return ald_shown_series_is_probed(series) ? most : (unsigned) CLAMP(parts, 1, most);
}

/* Figures */

/* The values of a series, scaled for people. */
typedef struct Figures {
        double least, mean, greatest, last; /* NaN if nothing is known */
        double count;
        AldSpark *sparks; /* the mean of each part */
        unsigned n_sparks;
} Figures;

static void figures_clear(Figures *figures)
{
        g_free(figures->sparks);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Figures, figures_clear)

/* Adds a point to the mean of its part, of which `count` values are known so far. */
static void add_point(
        Figures *figures, unsigned part, double *count, const AldHistoryPoint *point, double scale)
{
        double n = point->count == ALD_ABSENT_UINT64 ? 1 : (double) point->count;
        AldSpark *spark = &figures->sparks[part];

        if (!spark->recorded)
                *spark = (AldSpark){ true, NAN };
        if (!isfinite(point->mean) || n < 1)
                return;
        figures->least = fmin(figures->least, point->min * scale);
        figures->greatest = fmax(figures->greatest, point->max * scale);
        figures->last = point->mean * scale;
        spark->value = *count > 0 ? spark->value + (figures->last - spark->value) * n / (*count + n)
                                  : figures->last;
        *count += n;
        figures->count += n;
}

/* Parts have equal length and thus equal weight; figures of probes are weighted by the number of
 * measurements. */
static double weighted_mean(const Figures *figures, const double *counts, bool is_probed)
{
        double sum = 0, weights = 0;

        for (unsigned i = 0; i < figures->n_sparks; i++) {
                double weight = is_probed ? counts[i] : 1;

                if (counts[i] == 0)
                        continue;
                sum += figures->sparks[i].value * weight;
                weights += weight;
        }
        return weights > 0 ? sum / weights : (double) NAN;
}

static Figures summarize(const AldHistoryView *view, const Layout *layout, const AldShownSeries *series)
{
        unsigned n = count_cells(layout, series, view->from_usec, view->to_usec);
        uint64_t span = view->to_usec - view->from_usec;
        Figures figures = { NAN, NAN, NAN, NAN, 0, g_new0(AldSpark, n), n };
        g_autofree double *counts = g_new0(double, n);

        for (guint i = 0; series->points && i < series->points->len; i++) {
                const AldHistoryPoint *point = &g_array_index(series->points, AldHistoryPoint, i);
                uint64_t after = point->time_usec - MIN(point->time_usec, view->from_usec);
                unsigned part = MIN((unsigned) ((double) after / (double) span * n), n - 1);

                add_point(&figures, part, &counts[part], point, series->scale);
        }
        figures.mean = weighted_mean(&figures, counts, ald_shown_series_is_probed(series));
        return figures;
}

static AldFigureUnit unit_of(const AldShownSeries *series, const Figures *figures)
{
        return ald_figure_unit(series->number->unit, fmax(fabs(figures->least), fabs(figures->greatest)));
}

static char *draw_sparkline(const Figures *figures, unsigned width)
{
        AldSparkScale scale = ald_spark_scale(figures->least, figures->greatest);

        return ald_sparkline(figures->sparks, figures->n_sparks, width, &scale);
}

static void append_row(
        GString *out, const AldHistoryView *view, const Layout *layout, const AldShownSeries *series)
{
        g_auto(Figures) figures = summarize(view, layout, series);
        const AldFigureUnit unit = unit_of(series, &figures);
        const double numbers[N_NUMBERS] = { figures.least, figures.mean, figures.greatest, figures.last };
        unsigned indent = series->group ? INDENT : 0;
        g_autofree char *label = ald_text_fit(series->label, layout->label_width - indent, false);
        g_autofree char *line = draw_sparkline(&figures, layout->spark_width);

        g_string_append_printf(out, "%*s%s  %s", (int) indent, "", label, line);
        for (unsigned i = 0; i < N_NUMBERS; i++) {
                g_autofree char *number = ald_format_in_unit(&unit, numbers[i]);
                int padding = (int) NUMBER_WIDTH - (int) ald_text_width(number);

                g_string_append_printf(out, " %*s%s", MAX(padding, 0), "", number);
        }
        if (*unit.name && isfinite(figures.mean))
                g_string_append_printf(out, " %s", unit.name);
        g_string_append_c(out, '\n');
}

/* Returns "15.2 to 16.3 GiB, mean 16.0, last 16.0". */
static char *describe_figures(const Figures *figures, const AldFigureUnit *unit)
{
        g_autofree char *least = ald_format_in_unit(unit, figures->least);
        g_autofree char *greatest = ald_format_in_unit(unit, figures->greatest);
        g_autofree char *mean = ald_format_in_unit(unit, figures->mean);
        g_autofree char *last = ald_format_in_unit(unit, figures->last);

        if (!isfinite(figures->mean))
                return g_strdup(ALD_ABSENT_TEXT);
        if (strcmp(least, greatest) == 0)
                return g_strdup_printf("%s%s%s", least, *unit->name ? " " : "", unit->name);
        return g_strdup_printf("%s to %s%s%s, mean %s, last %s", least, greatest, *unit->name ? " " : "",
                unit->name, mean, last);
}

static void append_narrow_row(
        GString *out, const AldHistoryView *view, const Layout *layout, const AldShownSeries *series)
{
        g_auto(Figures) figures = summarize(view, layout, series);
        const AldFigureUnit unit = unit_of(series, &figures);
        g_autofree char *words = describe_figures(&figures, &unit);
        g_autofree char *text = g_strdup_printf("%s: %s", series->label, words);
        g_autofree char *line = draw_sparkline(&figures, layout->spark_width);

        ald_text_wrap(out, text, layout->columns, 0);
        g_string_append_printf(out, "\n%s\n", g_strchomp(line));
}

/* Times */

static char *format_time(uint64_t usec, const char *format)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_local((gint64) (usec / G_USEC_PER_SEC));

        return time ? g_date_time_format(time, format) : g_strdup(ALD_ABSENT_TEXT);
}

static bool is_same_day(uint64_t a, uint64_t b)
{
        g_autofree char *one = format_time(a, "%F"), *other = format_time(b, "%F");

        return strcmp(one, other) == 0;
}

/* Returns the shortest format in which both ends of the axis differ. */
static const char *axis_format(const AldHistoryView *view, unsigned width)
{
        uint64_t span = view->to_usec - view->from_usec;

        if (span < 10 * MINUTE_USEC)
                return "%H:%M:%S";
        if (span < 23 * HOUR_USEC)
                return "%H:%M";
        return span > 300 * DAY_USEC                    ? "%F"
               : width >= 2 * strlen("11-26 12:00") + 2 ? "%m-%d %H:%M"
                                                        : "%m-%d";
}

/* Returns the times at both ends of the sparklines. */
static char *format_axis(const AldHistoryView *view, unsigned width)
{
        g_autofree char *from = format_time(view->from_usec, axis_format(view, width));
        g_autofree char *to = format_time(view->to_usec, axis_format(view, width));
        int between = (int) width - (int) strlen(from) - (int) strlen(to);

        return between < 1 ? ald_text_fit(from, width, false)
                           : g_strdup_printf("%s%*s%s", from, between, "", to);
}

/* Returns "2026-11-26 23:50 to 2026-11-27 00:50, 2 min per character". */
static char *describe_range(const AldHistoryView *view, const Layout *layout)
{
        uint64_t span = view->to_usec - view->from_usec;
        const char *clock = span < 10 * MINUTE_USEC ? "%H:%M:%S" : "%H:%M";
        g_autofree char *date = format_time(view->from_usec, "%F"),
                        *start = format_time(view->from_usec, clock);
        g_autofree char *end_date = is_same_day(view->from_usec, view->to_usec)
                                            ? g_strdup("")
                                            : format_time(view->to_usec, "%F ");
        g_autofree char *end = format_time(view->to_usec, clock);
        g_autofree char *each = ald_format_duration((double) span / layout->spark_width);

        return g_strdup_printf("%s %s to %s%s, %s per character", date, start, end_date, end, each);
}

static void append_title(GString *out, const AldHistoryView *view, const Layout *layout)
{
        g_autofree char *name = ald_entity_label(view->node);
        g_autofree char *peer = view->peer ? ald_entity_label(view->peer) : NULL;
        g_autofree char *names = peer ? g_strdup_printf("%s ↔ %s", name, peer) : g_strdup(name);
        g_autofree char *range = describe_range(view, layout);
        bool fits = ald_text_width(names) + 1 + ald_text_width(range) <= layout->columns;

        g_string_append(out, ALD_STYLE_BOLD);
        ald_text_wrap(out, names, layout->columns, 0);
        g_string_append(out, fits ? ALD_STYLE_NORMAL " " ALD_STYLE_DIM : ALD_STYLE_NORMAL "\n" ALD_STYLE_DIM);
        ald_text_wrap(out, range, layout->columns, 0);
        g_string_append(out, ALD_STYLE_NORMAL "\n\n");
}

static void append_header(GString *out, const AldHistoryView *view, const Layout *layout)
{
        static const char *const titles[N_NUMBERS] = { "MIN", "MEAN", "MAX", "LAST" };
        g_autofree char *axis = format_axis(view, layout->spark_width);

        g_string_append(out, ALD_STYLE_HEADER);
        if (!layout->narrow)
                g_string_append_printf(out, "%-*s  ", (int) layout->label_width, TITLE);
        g_string_append(out, axis);
        for (unsigned i = 0; !layout->narrow && i < N_NUMBERS; i++)
                g_string_append_printf(out, " %*s", (int) NUMBER_WIDTH, titles[i]);
        g_string_append(out, ALD_STYLE_NORMAL "\n");
}

static void append_heading(GString *out, const Layout *layout, const char *group)
{
        g_string_append(out, ALD_STYLE_BOLD);
        ald_text_wrap(out, group, layout->columns, 0);
        g_string_append(out, ALD_STYLE_NORMAL "\n");
}

/* Events */

static void append_marks(GString *out, const AldHistoryView *view, const Layout *layout)
{
        g_autofree AldSparkEvent *events = g_new0(AldSparkEvent, view->events->len);
        g_autofree char *marks = NULL;

        for (guint i = 0; i < view->events->len; i++) {
                const AldFindingEvent *event = view->events->pdata[i];

                events[i] = (AldSparkEvent){ event->times.began_usec, event->times.ended_usec };
        }
        marks = ald_spark_marks(
                events, view->events->len, view->from_usec, view->to_usec, layout->spark_width);
        if (layout->narrow)
                g_string_append_printf(out, "Events\n%s\n", g_strchomp(marks));
        else
                g_string_append_printf(
                        out, "%-*s  %s\n", (int) layout->label_width, "Events", g_strchomp(marks));
}

/* Returns a format for all times of events, which may begin before the view and end after it. */
static const char *event_format(const AldHistoryView *view)
{
        uint64_t from = view->from_usec, to = view->to_usec;

        for (guint i = 0; i < view->events->len; i++) {
                const AldHistoryEvent *times = &((const AldFindingEvent *) view->events->pdata[i])->times;

                from = MIN(from, times->began_usec);
                if (times->ended_usec != ALD_ABSENT_UINT64)
                        to = MAX(to, times->ended_usec);
        }
        return is_same_day(from, to)        ? "%H:%M:%S"
               : to - from < 300 * DAY_USEC ? "%m-%d %H:%M:%S"
                                            : "%F %H:%M";
}

static char *describe_event(const AldFindingEvent *event)
{
        AldTone tone;
        g_autofree char *severity = ald_finding_severity(event->row, &tone);
        g_autofree char *toned = ald_text_toned(tone, severity);
        g_autofree char *words = ald_finding_words(event->row);
        g_autofree char *id = ald_text_safe(event->row->id ?: ALD_ABSENT_TEXT);

        return g_strdup_printf("%s: %s", toned, words ?: id);
}

static void append_narrow_times(GString *out, const char *began, const char *ended, const Layout *layout)
{
        g_autofree char *text = g_strdup_printf("%s to %s", began, ended);

        ald_text_wrap(out, text, layout->columns, 0);
        g_string_append(out, "\n  ");
}

static void append_event(GString *out, const AldFindingEvent *event, const char *format, const Layout *layout)
{
        bool wide = layout->columns >= EVENTS_WIDE;
        g_autofree char *began = format_time(event->times.began_usec, format);
        g_autofree char *ended = event->times.ended_usec == ALD_ABSENT_UINT64
                                         ? ald_list_column_text(
                                                   &ald_finding_columns[ALD_FINDING_COLUMN_ENDED],
                                                   &(const AldFindingListRow){ .times = &event->times })
                                         : format_time(event->times.ended_usec, format);
        g_autofree char *sentence = describe_event(event);
        unsigned width = (unsigned) strlen(began);

        if (wide)
                g_string_append_printf(out, "%s  %-*s  ", began, (int) width, ended);
        else
                append_narrow_times(out, began, ended, layout);
        ald_text_wrap(out, sentence, layout->columns, wide ? 2 * (width + 2) : INDENT);
        g_string_append_c(out, '\n');
}

static void append_events(GString *out, const AldHistoryView *view, const Layout *layout)
{
        const char *format = event_format(view);
        g_autofree char *sample = format_time(view->to_usec, format);
        int width = (int) strlen(sample);

        if (layout->columns >= EVENTS_WIDE)
                g_string_append_printf(out, "\n" ALD_STYLE_HEADER "%-*s  %-*s  %s" ALD_STYLE_NORMAL "\n",
                        width, ald_finding_columns[ALD_FINDING_COLUMN_BEGAN].heading, width,
                        ald_finding_columns[ALD_FINDING_COLUMN_ENDED].heading,
                        ald_finding_columns[ALD_FINDING_COLUMN_ID].heading);
        else
                g_string_append(out, "\n" ALD_STYLE_HEADER "FINDINGS" ALD_STYLE_NORMAL "\n");
        for (guint i = 0; i < view->events->len; i++)
                append_event(out, view->events->pdata[i], format, layout);
}

static void append_nothing(GString *out, const AldHistoryView *view)
{
        g_autofree char *begins = format_time(view->begins_usec, "%F %T");

        g_string_append(out, "Nothing was recorded.\n");
        if (view->from_usec < view->begins_usec)
                g_string_append_printf(out, "The history begins at %s.\n", begins);
}

GArray *ald_history_rows(const AldHistoryView *view, uint64_t now_usec)
{
        GArray *rows = g_array_sized_new(FALSE, FALSE, sizeof(AldSeriesRow), view->series->len);
        const Layout layout = make_layout(view, 0, now_usec);

        for (guint i = 0; i < view->series->len; i++) {
                g_auto(Figures) figures = summarize(view, &layout, view->series->pdata[i]);
                AldSeriesRow row = { .model = view->model,
                        .series = view->series->pdata[i],
                        .least = figures.least,
                        .mean = figures.mean,
                        .greatest = figures.greatest,
                        .last = figures.last,
                        .count = figures.count };

                g_array_append_val(rows, row);
        }
        return rows;
}

void ald_history_describe(GString *out, const AldHistoryView *view, unsigned columns, uint64_t now_usec)
{
        const Layout layout = make_layout(view, columns, now_usec);
        const char *group = NULL;

        append_title(out, view, &layout);
        if (view->series->len == 0)
                append_nothing(out, view);
        else
                append_header(out, view, &layout);
        for (guint i = 0; i < view->series->len; i++) {
                const AldShownSeries *series = view->series->pdata[i];

                if (series->group && g_strcmp0(series->group, group) != 0)
                        append_heading(out, &layout, series->group);
                group = series->group;
                (layout.narrow ? append_narrow_row : append_row)(out, view, &layout, series);
        }
        if (view->events->len == 0)
                return;
        if (view->series->len > 0)
                append_marks(out, view, &layout);
        append_events(out, view, &layout);
}
