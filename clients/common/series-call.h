/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "clients/common/shown-series.h"

/*
 * Series that are read from org.alidade.History1, some with each call: as long as some are left, make a call
 * and take its reply. An older service, which knows no GetSeveralSeries(), is asked for one after the other,
 * and for no other one of a node or link of which it does not keep the first one.
 */
typedef struct AldSeriesReading {
        GPtrArray *series; /* AldShownSeries */
        uint64_t from_usec, to_usec;
        unsigned points; /* at most, of each */
        guint n_read;
        bool one_by_one;
} AldSeriesReading;

/* The call for the next ones of an AldSeriesReading. Negative errno of sd-bus. */
int ald_series_reading_make(sd_bus *bus, const void *reading, sd_bus_message **ret);

/* Takes its reply, or its error. Series of which nothing is kept get no points, the others AldHistoryPoint
 * that have a time. Negative errno if the series cannot be read. */
int ald_series_reading_take(AldSeriesReading *reading, sd_bus_message *reply, const sd_bus_error *error);

bool ald_series_reading_is_complete(const AldSeriesReading *reading);
