/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "clients/alidadectl/history/history-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/error-names.h"
#include "record/record-bus.h"

/* Of as many points as there can be. */
#define POINTS_BYTES_MAX (10000u * sizeof(AldHistoryPoint))

static int read_points(sd_bus_message *reply, AldShownSeries *series)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r = ald_record_bus_read_rows(reply, &ald_history_point_struct, POINTS_BYTES_MAX, owned, &rows);

        if (r < 0)
                return r;
        series->points = g_array_new(FALSE, FALSE, sizeof(AldHistoryPoint));
        for (size_t i = 0; i < rows.n; i++) {
                const AldHistoryPoint *point = ald_rows_at(&rows, i);

                if (point->time_usec != ALD_ABSENT_UINT64)
                        g_array_append_vals(series->points, point, 1);
        }
        return 0;
}

int ald_history_call_series(sd_bus *bus, AldShownSeries *series, uint64_t from_usec, uint64_t to_usec,
        unsigned points, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        int r = sd_bus_call_method(bus, ALD_HISTORY_NAME, ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE,
                "GetSeries", error, &reply, "ssssttu", series->node, ald_kinds[series->kind].name,
                series->key, series->field, from_usec, to_usec, points);

        if (sd_bus_error_has_name(error, ALD_ERROR_NOT_KEPT)) {
                sd_bus_error_free(error);
                return -ENODATA;
        }
        return r < 0 ? r : read_points(reply, series);
}

char *ald_history_call_scope(sd_bus *bus)
{
        char *scope = NULL, *copy;

        if (sd_bus_get_property_string(bus, ALD_HISTORY_NAME, ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE,
                    "Scope", NULL, &scope) < 0)
                return NULL;
        copy = g_strdup(scope);
        free(scope);
        return copy;
}

uint64_t ald_history_call_beginning(sd_bus *bus)
{
        g_autoptr(AldMessage) reply = NULL;
        uint64_t from_usec, to_usec;

        if (sd_bus_call_method(bus, ALD_HISTORY_NAME, ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE, "GetRange",
                    NULL, &reply, NULL) < 0 ||
                sd_bus_message_read(reply, "tt", &from_usec, &to_usec) < 0)
                return 0;
        return from_usec;
}
