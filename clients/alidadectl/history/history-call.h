/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "clients/common/shown-series.h"

/* Calls of org.alidade.History1. Functions return a negative errno; `error` may then be set. */

/* Reads the points of series (AldShownSeries), at most `points` of each; series whose node or link is not
 * recorded get none. */
int ald_history_call_series(sd_bus *bus, GPtrArray *series, uint64_t from_usec, uint64_t to_usec,
        unsigned points, sd_bus_error *error);

/* Returns whose history is recorded: "all", "local" or "off"; NULL if that cannot be read. */
char *ald_history_call_scope(sd_bus *bus);

/* Returns when the oldest kept sample was measured; 0 if nothing is kept, or that cannot be read. */
uint64_t ald_history_call_beginning(sd_bus *bus);
