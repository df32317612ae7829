/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/series-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "record/record-bus.h"

/* Of as many points as there can be. */
#define POINTS_BYTES_MAX (10000u * sizeof(AldHistoryPoint))

int ald_series_call_make(sd_bus *bus, const void *data, sd_bus_message **ret)
{
        const AldSeriesCall *series = data;
        g_autoptr(AldMessage) call = NULL;
        int r = sd_bus_message_new_method_call(
                bus, &call, ALD_HISTORY_NAME, ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE, "GetSeries");

        if (r >= 0)
                r = sd_bus_message_append(call, "ssssttu", series->node, series->kind, series->key,
                        series->field, series->from_usec, series->to_usec, series->points);
        if (r >= 0)
                *ret = g_steal_pointer(&call);
        return r;
}

int ald_series_call_read(sd_bus_message *reply, GArray **ret)
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
