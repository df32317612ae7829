/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"
#include "state/totals.h"

/* The counts and sums that are properties of org.alidade.State1, kept up to date at most once a second. */
typedef struct AldTotalsBus {
        AldService *service;
        AldStore *store;
        uint64_t nodes;
        uint64_t links;
        uint64_t hidden;
        AldTotals totals;
        uint64_t told_memory_available; /* as last signalled */
        uint64_t told_device_memory_available;
        guint timer;
} AldTotalsBus;

void ald_totals_bus_init(AldTotalsBus *totals, AldService *service, AldStateManager *manager);
void ald_totals_bus_clear(AldTotalsBus *totals);
