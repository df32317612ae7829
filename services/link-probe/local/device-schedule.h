/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/gate.h"
#include "services/link-probe/link/sessions.h"
#include "services/link-probe/local/row-results.h"
#include "services/link-probe/state/state-query-bus.h"

/*
 * Measures what one kind of probe measures of this machine, when it is due: one at a time, and not while it
 * is inhibited or the machine has work. Keeps the results, also of requested probes. What differs between
 * these kinds is an AldLocalKind (local-kind.h).
 */
typedef struct AldDeviceSchedule AldDeviceSchedule;

typedef struct AldDeviceScheduleParts {
        const AldProbeKind *kind;
        AldService *service;
        const char *own_id;
        AldStateQuery *query; /* freed first */
        AldProber *prober;
        const AldSessions *sessions;
        const AldGate *gate;
        const AldMachine *machine;
        void (*ended)(void *userdata); /* called when a probe that nobody requested has ended */
        void *userdata;
} AldDeviceScheduleParts;

AldDeviceSchedule *ald_device_schedule_new(const AldDeviceScheduleParts *parts);
void ald_device_schedule_free(AldDeviceSchedule *schedule);

/* Reads from the configuration of the service whether anything is measured without a request. If not, a
 * measurement that nobody requested is stopped. */
void ald_device_schedule_configure(AldDeviceSchedule *schedule);

/* Call it when locks or work have changed: stops a measurement that has to yield to work. */
void ald_device_schedule_check(AldDeviceSchedule *schedule);

/* Returns in words why a device must not be measured now, to be freed; NULL if it may be. */
char *ald_device_schedule_obstacle(AldDeviceSchedule *schedule, const AldProbeTarget *target);

/* Keeps the answer of any probe of a device, due or requested. */
void ald_device_schedule_take(
        AldDeviceSchedule *schedule, const AldProbe *probe, const AldProbeAnswer *answer);

/* Returns the devices whose load our own measurement causes, or caused until just now. NULL ends the list,
 * which is valid until control returns to the main loop or a probe ends. */
const char *const *ald_device_schedule_ours(AldDeviceSchedule *schedule);

AldRowResults *ald_device_schedule_results(const AldDeviceSchedule *schedule);

/* The functions of its kind use these. */
const AldDeviceScheduleParts *ald_device_schedule_parts(const AldDeviceSchedule *schedule);
void *ald_device_schedule_state(const AldDeviceSchedule *schedule);
