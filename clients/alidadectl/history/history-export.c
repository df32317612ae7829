/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>

#include "clients/alidadectl/history/history-export.h"
#include "clients/common/columns/column-export.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "record/json.h"

static json_t *points_to_json(const GArray *points)
{
        json_t *array = json_array();

        for (guint i = 0; points && i < points->len; i++)
                json_array_append_new(array, ald_struct_to_json(&ald_history_point_struct,
                                                     &g_array_index(points, AldHistoryPoint, i)));
        return array;
}

static json_t *series_to_json(const AldShownSeries *series)
{
        const char *unit = ald_shown_series_unit(series);
        json_t *object = json_object();

        json_object_set_new(object, "Node", json_string(series->node));
        json_object_set_new(object, "Kind", json_string(ald_kinds[series->kind].name));
        if (*series->key)
                json_object_set_new(object, "Key", json_string(series->key));
        json_object_set_new(object, "Field", json_string(series->field));
        if (unit)
                json_object_set_new(object, "Unit", json_string(unit));
        json_object_set_new(object, "Points", points_to_json(series->points));
        return object;
}

static void set_node(json_t *object, json_t *names, const char *key, const AldEntity *node)
{
        const char *name = ald_entity_name(node);

        if (!node)
                return;
        json_object_set_new(object, key, json_string(node->id));
        if (name)
                json_object_set_new(names, node->id, json_string(name));
}

json_t *ald_history_to_json(const AldHistoryView *view)
{
        json_t *object = json_object(), *names = json_object(), *series = json_array(),
               *events = json_array();

        set_node(object, names, "NodeId", view->node);
        set_node(object, names, "PeerId", view->peer);
        json_object_set_new(object, "Names", names);
        json_object_set_new(object, "FromUSec", json_integer((json_int_t) view->from_usec));
        json_object_set_new(object, "ToUSec", json_integer((json_int_t) view->to_usec));
        for (guint i = 0; i < view->series->len; i++)
                json_array_append_new(series, series_to_json(view->series->pdata[i]));
        json_object_set_new(object, "Series", series);
        for (guint i = 0; i < view->events->len; i++)
                json_array_append_new(events, ald_finding_event_to_json(view->events->pdata[i]));
        json_object_set_new(object, "Events", events);
        return object;
}

/* CSV */

static void append_point(GString *out, const AldShownSeries *series, const AldHistoryPoint *point)
{
        g_autoptr(GDateTime)
                whole = g_date_time_new_from_unix_utc((gint64) (point->time_usec / G_USEC_PER_SEC));
        g_autofree char *time = whole ? g_date_time_format(whole, "%Y-%m-%dT%H:%M:%S") : g_strdup("");
        const char *const words[] = { series->node, ald_kinds[series->kind].name, series->key, series->field,
                ald_shown_series_unit(series) ?: "" };
        const double numbers[] = { point->min, point->mean, point->max, ald_uint64_to_double(point->count) };

        g_string_append_printf(out, "%s.%06" PRIu64 "Z", time, point->time_usec % G_USEC_PER_SEC);
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                g_autofree char *safe = NULL;

                g_string_append_c(out, ',');
                safe = ald_text_safe(words[i]);
                ald_csv_append_text(out, safe);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
                g_string_append_c(out, ',');
                ald_csv_append_number(out, numbers[i]);
        }
        g_string_append(out, "\r\n");
}

void ald_history_append_csv(GString *out, const AldHistoryView *view)
{
        g_string_append(out, "time,node,kind,key,field,unit,min,mean,max,count\r\n");
        for (guint i = 0; i < view->series->len; i++) {
                const AldShownSeries *series = view->series->pdata[i];

                for (guint k = 0; series->points && k < series->points->len; k++)
                        append_point(out, series, &g_array_index(series->points, AldHistoryPoint, k));
        }
}
