/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/local/device-schedule.h"

/* Exports the results: those of links as objects below /org/alidade/LinkProbe1, those of local kinds as
 * records of that object. */
typedef struct AldResultsBus AldResultsBus;

/* `schedules` has the schedules of local kinds, by AldKind. */
int ald_results_bus_new(
        AldService *service, AldResults *results, AldDeviceSchedule *const *schedules, AldResultsBus **ret);
void ald_results_bus_free(AldResultsBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldResultsBus, ald_results_bus_free)
