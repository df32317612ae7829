/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "clients/alidadectl/history/history-call.h"
#include "clients/common/series-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"

int ald_history_call_series(sd_bus *bus, GPtrArray *series, uint64_t from_usec, uint64_t to_usec,
        unsigned points, sd_bus_error *error)
{
        AldSeriesReading reading = {
                .series = series, .from_usec = from_usec, .to_usec = to_usec, .points = points
        };
        int r = 0;

        while (r >= 0 && !ald_series_reading_is_complete(&reading)) {
                g_auto(sd_bus_error) refusal = SD_BUS_ERROR_NULL;
                g_autoptr(AldMessage) call = NULL, reply = NULL;

                r = ald_series_reading_make(bus, &reading, &call);
                if (r < 0)
                        return r;
                r = sd_bus_call(bus, call, 0, &refusal, &reply);
                if (r >= 0 || sd_bus_error_is_set(&refusal))
                        r = ald_series_reading_take(&reading, reply, r < 0 ? &refusal : NULL);
                if (r < 0)
                        sd_bus_error_move(error, &refusal);
        }
        return r;
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
