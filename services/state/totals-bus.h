/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals-bus.h"
#include "services/state/state-manager.h"
#include "state/compute/totals.h"

/* The counts and sums that are properties of org.alidade.State1. Changes are signalled at most once a second;
 * a client that reads them sees all but those of the last moment. */
typedef struct AldTotalsBus {
        AldSignals *signals;
        AldStore *store;
        const char *node_id;
        AldTotals totals;
        AldTotals signalled; /* as last signalled */
        guint timer;
        gint64 read; /* when they were last computed for a reader, CLOCK_MONOTONIC in µs; 0: never */
        bool stale;  /* something changed since they were computed */
        sd_bus_slot *slot;
} AldTotalsBus;

int ald_totals_bus_init(AldTotalsBus *totals, sd_bus *bus, AldSignals *signals, AldStateManager *manager,
        const char *node_id);
void ald_totals_bus_clear(AldTotalsBus *totals);

/* Appends the counts of reasons that are not 0: a{sv}. */
int ald_totals_bus_append_reasons(sd_bus_message *message, const uint64_t counts[static ALD_LEFT_OUT_N]);
