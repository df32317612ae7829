/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/inhibit/inhibitors.h"
#include "services/link-probe/job/measure-request.h"
#include "services/link-probe/link/gate.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/schedule/reception.h"

/* The link probe service: every 15 s it asks which probes are due and runs them; it serves probes of other
 * nodes and applies locks. */
typedef struct AldLinkProbeManager AldLinkProbeManager;

#define ALD_TICK_USEC (UINT64_C(15) * 1000 * 1000)

int ald_link_probe_manager_new(AldService *service, AldLinkProbeManager **ret);
void ald_link_probe_manager_free(AldLinkProbeManager *manager);

/* Sets the callback for changes of anything that clients see. */
void ald_link_probe_manager_watch(
        AldLinkProbeManager *manager, void (*changed)(void *userdata), void *userdata);

/* Reads the configuration again and checks the credentials. */
void ald_link_probe_manager_configure(AldLinkProbeManager *manager);

const AldGate *ald_link_probe_manager_gate(const AldLinkProbeManager *manager);
AldInhibitors *ald_link_probe_manager_inhibitors(AldLinkProbeManager *manager);
AldMeasureRequests *ald_link_probe_manager_requests(AldLinkProbeManager *manager);
AldResults *ald_link_probe_manager_results(AldLinkProbeManager *manager);
const AldProber *ald_link_probe_manager_prober(const AldLinkProbeManager *manager);
/* Returns the schedules of local kinds, by AldKind; NULL for other kinds. */
AldDeviceSchedule *const *ald_link_probe_manager_schedules(const AldLinkProbeManager *manager);

const AldReception *ald_link_probe_manager_reception(const AldLinkProbeManager *manager);

/* Returns the unit of work-units= that keeps this machine from being measured, or NULL. */
const char *ald_link_probe_manager_unit(const AldLinkProbeManager *manager);

/* Describes the unit that uses half of the processors; NULL if there is none. */
const char *ald_link_probe_manager_processors(const AldLinkProbeManager *manager);
