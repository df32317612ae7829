/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* A call of GetSeries() of org.alidade.History1: a number of a record over time. */
typedef struct AldSeriesCall {
        const char *node, *kind, *key, *field; /* key: "" for a record of a node */
        uint64_t from_usec, to_usec;
        unsigned points; /* at most */
} AldSeriesCall;

/* The call of an AldSeriesCall. Negative errno of sd-bus. */
int ald_series_call_make(sd_bus *bus, const void *call, sd_bus_message **ret);

/* The points in its reply, which have a time: AldHistoryPoint. Negative errno. */
int ald_series_call_read(sd_bus_message *reply, GArray **ret);
