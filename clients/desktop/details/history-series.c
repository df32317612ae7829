/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "clients/desktop/details/history-series.h"
#include "clients/desktop/details/path-rows.h"

#define SERIES_MAX 160u /* enough for a node with 16 devices and more */

static void series_free(gpointer data)
{
        AldHistorySeries *series = data;

        ald_shown_series_free(series->recorded);
        g_free(series->title);
        g_free(series->detail);
        if (series->points)
                g_array_unref(series->points);
        g_free(series);
}

/* Names a rate by its direction, whichever end has measured it, and other figures by their label. */
static char *describe_figure(const AldShownSeries *recorded, const char *source, const char *sink)
{
        if (recorded->flow == ALD_SHOWN_FLOW_NONE)
                return g_strdup(recorded->label);
        return recorded->flow == ALD_SHOWN_FLOW_UP ? ald_direction_words(source, sink)
                                                   : ald_direction_words(sink, source);
}

/* Takes ownership of the recorded series. */
static AldHistorySeries *series_new(const AldDetailsSubject *subject, AldShownSeries *recorded)
{
        AldHistorySeries *series = g_new0(AldHistorySeries, 1);
        const char *peer = g_str_equal(recorded->node, subject->a) ? subject->b : subject->a;
        g_autofree char *source = ald_details_subject_name(subject, recorded->node);
        g_autofree char *sink = ald_details_subject_name(subject, peer);

        series->recorded = recorded;
        series->title = describe_figure(recorded, source, sink);
        series->detail = subject->b ? g_strdup_printf(_("From %s: %s"), source, recorded->place)
                                    : g_strdup(recorded->place);
        return series;
}

/* Sorts both directions of a link so that the one from the first node comes first. */
static void sort_directions(GPtrArray *recorded, const char *first_node)
{
        for (guint i = 0; i + 1 < recorded->len; i++) {
                AldShownSeries *up = recorded->pdata[i];

                if (up->flow != ALD_SHOWN_FLOW_UP || g_str_equal(up->node, first_node))
                        continue;
                recorded->pdata[i] = recorded->pdata[i + 1];
                recorded->pdata[++i] = up;
        }
}

GPtrArray *ald_history_series_of(const AldDetailsSubject *subject)
{
        GPtrArray *all = g_ptr_array_new_with_free_func(series_free);
        g_autoptr(GPtrArray) recorded = NULL;

        if (!subject->node_a || (subject->b && !subject->node_b))
                return all;
        recorded = subject->b ? ald_shown_series_of_links(
                                        subject->model, subject->node_a, subject->node_b, subject->now)
                              : ald_shown_series_of_node(subject->node_a);
        sort_directions(recorded, subject->a);
        while (recorded->len > 0 && all->len < SERIES_MAX)
                g_ptr_array_add(all, series_new(subject, g_ptr_array_steal_index(recorded, 0)));
        return all;
}

bool ald_history_series_is_known(const AldHistorySeries *series)
{
        return series->points &&
               !isnan(ald_sparkline_summary(
                       (const AldSparkPoint *) (const void *) series->points->data, series->points->len)
                               .mean);
}
