/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "clients/common/shown-series.h"

/*
 * Series that are read from org.alidade.History1, some with each call: while the reading is not complete,
 * make a call and take its reply. An older service without GetSeveralSeries() is asked for one series after
 * the other; if it does not keep the first series of a node or link, the others of that node or link are
 * skipped.
 */
typedef struct AldSeriesReading {
        GPtrArray *series; /* AldShownSeries */
        uint64_t from_usec, to_usec;
        unsigned points; /* at most, of each */
        guint n_read;
        bool one_by_one;
} AldSeriesReading;

/* Makes the call for the next series of an AldSeriesReading. Negative errno of sd-bus. */
int ald_series_reading_make(sd_bus *bus, const void *reading, sd_bus_message **ret);

/* Takes the reply, or its error. Series that are not kept get no points, the others all AldHistoryPoints that
 * have a time. Negative errno if the series cannot be read. */
int ald_series_reading_take(AldSeriesReading *reading, sd_bus_message *reply, const sd_bus_error *error);

bool ald_series_reading_is_complete(const AldSeriesReading *reading);
