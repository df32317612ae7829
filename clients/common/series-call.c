/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/common/series-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/error-names.h"
#include "record/record-bus.h"

/* The limits of GetSeveralSeries(). */
#define SERIES_MAX 64u
#define POINTS_MAX 10000u

/* The size of the most points that a reply can have. */
#define POINTS_BYTES_MAX (POINTS_MAX * sizeof(AldHistoryPoint))

/* Returns the number of series that the next call asks for. */
static guint count_next(const AldSeriesReading *reading)
{
        guint left = reading->series->len - reading->n_read;
        guint most = reading->one_by_one ? 1 : MIN(SERIES_MAX, MAX(POINTS_MAX / reading->points, 1));

        return MIN(left, most);
}

static int append_name(sd_bus_message *call, const AldShownSeries *series)
{
        return sd_bus_message_append(
                call, "ssss", series->node, ald_kinds[series->kind].name, series->key, series->field);
}

static int append_names(sd_bus_message *call, const AldSeriesReading *reading)
{
        int r = sd_bus_message_open_container(call, SD_BUS_TYPE_ARRAY, "(ssss)");

        for (guint i = 0; i < count_next(reading) && r >= 0; i++) {
                r = sd_bus_message_open_container(call, SD_BUS_TYPE_STRUCT, "ssss");
                if (r >= 0)
                        r = append_name(call, reading->series->pdata[reading->n_read + i]);
                if (r >= 0)
                        r = sd_bus_message_close_container(call);
        }
        return r < 0 ? r : sd_bus_message_close_container(call);
}

int ald_series_reading_make(sd_bus *bus, const void *data, sd_bus_message **ret)
{
        const AldSeriesReading *reading = data;
        g_autoptr(AldMessage) call = NULL;
        int r = sd_bus_message_new_method_call(bus, &call, ALD_HISTORY_NAME, ALD_HISTORY_PATH,
                ALD_HISTORY_INTERFACE, reading->one_by_one ? "GetSeries" : "GetSeveralSeries");

        if (r >= 0)
                r = reading->one_by_one ? append_name(call, reading->series->pdata[reading->n_read])
                                        : append_names(call, reading);
        if (r >= 0)
                r = sd_bus_message_append(call, "ttu", reading->from_usec, reading->to_usec, reading->points);
        if (r >= 0)
                *ret = g_steal_pointer(&call);
        return r;
}

static int read_points(sd_bus_message *reply, GArray **ret)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r = ald_record_bus_read_rows(reply, &ald_history_point_struct, POINTS_BYTES_MAX, owned, &rows);
        GArray *points;

        if (r < 0)
                return r;
        points = g_array_new(FALSE, FALSE, sizeof(AldHistoryPoint));
        for (size_t i = 0; i < rows.n; i++) {
                const AldHistoryPoint *point = ald_rows_at(&rows, i);

                if (point->time_usec != ALD_ABSENT_UINT64)
                        g_array_append_vals(points, point, 1);
        }
        *ret = points;
        return 0;
}

/* Reads one series of a reply of GetSeveralSeries(). */
static int read_series(sd_bus_message *reply, AldShownSeries *series)
{
        g_autoptr(GArray) points = NULL;
        int is_kept = 0, r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_STRUCT, "baa{sv}");

        if (r == 0)
                return -EBADMSG;
        if (r >= 0)
                r = sd_bus_message_read(reply, "b", &is_kept);
        if (r >= 0)
                r = read_points(reply, &points);
        if (r >= 0)
                r = sd_bus_message_exit_container(reply);
        if (r >= 0 && is_kept)
                series->points = g_steal_pointer(&points);
        return r;
}

static int read_several(sd_bus_message *reply, AldSeriesReading *reading)
{
        guint end = reading->n_read + count_next(reading);
        int r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(baa{sv})");

        while (r >= 0 && reading->n_read < end) {
                r = read_series(reply, reading->series->pdata[reading->n_read]);
                reading->n_read++;
        }
        return r < 0 ? r : sd_bus_message_exit_container(reply);
}

static bool is_of_same(const AldShownSeries *a, const AldShownSeries *b)
{
        return g_str_equal(a->node, b->node) && g_str_equal(a->key, b->key);
}

/* If the first figure of a node or link is refused, the node or link is not recorded, and calls for its other
 * figures would only be refused, too. If one of its figures was kept, all of them are asked for. */
static void skip_refused(AldSeriesReading *reading)
{
        AldShownSeries **series = (AldShownSeries **) reading->series->pdata;
        const AldShownSeries *refused = series[reading->n_read - 1];

        if (reading->n_read > 1 && is_of_same(series[reading->n_read - 2], refused))
                return;
        while (reading->n_read < reading->series->len && is_of_same(series[reading->n_read], refused))
                reading->n_read++;
}

static int read_one(sd_bus_message *reply, AldSeriesReading *reading)
{
        AldShownSeries *series = reading->series->pdata[reading->n_read++];

        if (reply)
                return read_points(reply, &series->points);
        skip_refused(reading);
        return 0;
}

int ald_series_reading_take(AldSeriesReading *reading, sd_bus_message *reply, const sd_bus_error *error)
{
        int r;

        if (!reading->one_by_one && sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_METHOD)) {
                reading->one_by_one = true;
                return 0;
        }
        if (error && !(reading->one_by_one && sd_bus_error_has_name(error, ALD_ERROR_NOT_KEPT)))
                return -sd_bus_error_get_errno(error);
        r = reading->one_by_one ? read_one(reply, reading) : read_several(reply, reading);
        return MIN(r, 0);
}

bool ald_series_reading_is_complete(const AldSeriesReading *reading)
{
        return reading->n_read == reading->series->len;
}
