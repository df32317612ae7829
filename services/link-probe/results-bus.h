/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/local/device-schedule.h"

/* Exports the results: of links as objects below /org/alidade/LinkProbe1, of local kinds as its records. */
typedef struct AldResultsBus AldResultsBus;

/* `schedules` has those of local kinds, by AldKind. */
int ald_results_bus_new(
        AldService *service, AldResults *results, AldDeviceSchedule *const *schedules, AldResultsBus **ret);
void ald_results_bus_free(AldResultsBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldResultsBus, ald_results_bus_free)
