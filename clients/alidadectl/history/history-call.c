/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "clients/alidadectl/history/history-call.h"
#include "clients/common/series-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/error-names.h"

int ald_history_call_series(sd_bus *bus, AldShownSeries *series, uint64_t from_usec, uint64_t to_usec,
        unsigned points, sd_bus_error *error)
{
        const AldSeriesCall query = { .node = series->node,
                .kind = ald_kinds[series->kind].name,
                .key = series->key,
                .field = series->field,
                .from_usec = from_usec,
                .to_usec = to_usec,
                .points = points };
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        int r = ald_series_call_make(bus, &query, &call);

        if (r >= 0)
                r = sd_bus_call(bus, call, 0, error, &reply);
        if (sd_bus_error_has_name(error, ALD_ERROR_NOT_KEPT)) {
                sd_bus_error_free(error);
                return -ENODATA;
        }
        return r < 0 ? r : ald_series_call_read(reply, &series->points);
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
