/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/gate.h"
#include "services/link-probe/link/sessions.h"
#include "services/link-probe/local/row-results.h"
#include "services/link-probe/state/state-query-bus.h"

/*
 * Measures the devices of one local kind when they are due: one at a time, and not while probes are inhibited
 * or the machine has work. Keeps the results, including those of requested probes. The differences between
 * local kinds are in AldLocalKind (local-kind.h).
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
        void (*ended)(void *userdata); /* called when an automatic probe has ended */
        void *userdata;
} AldDeviceScheduleParts;

AldDeviceSchedule *ald_device_schedule_new(const AldDeviceScheduleParts *parts);
void ald_device_schedule_free(AldDeviceSchedule *schedule);

/* Reads from the configuration of the service whether devices are measured automatically. If not, a running
 * automatic measurement is stopped. */
void ald_device_schedule_configure(AldDeviceSchedule *schedule);

/* Stops a measurement that has to yield to work. Call it when locks or work have changed. */
void ald_device_schedule_check(AldDeviceSchedule *schedule);

/* Describes why a device must not be measured now; NULL if it may be. Free with g_free(). */
char *ald_device_schedule_obstacle(AldDeviceSchedule *schedule, const AldProbeTarget *target);

/* Describes the unit that uses half of the processors; NULL if there is none. */
const char *ald_device_schedule_processors(const AldDeviceSchedule *schedule);

/* Returns whether the first measurement of a device has waited for so long that it no longer waits for
 * programs that use the processors. */
bool ald_device_schedule_has_waited(const AldDeviceSchedule *schedule, const char *device);

/* Keeps the answer of any probe of a device, automatic or requested. */
void ald_device_schedule_take(
        AldDeviceSchedule *schedule, const AldProbe *probe, const AldProbeAnswer *answer);

/* Returns the devices whose load our own measurements cause, or caused until a moment ago. NULL ends the
 * list, which is valid until control returns to the main loop or a probe ends. */
const char *const *ald_device_schedule_ours(AldDeviceSchedule *schedule);

AldRowResults *ald_device_schedule_results(const AldDeviceSchedule *schedule);

/* Accessors for the functions of the kind. */
const AldDeviceScheduleParts *ald_device_schedule_parts(const AldDeviceSchedule *schedule);
void *ald_device_schedule_state(const AldDeviceSchedule *schedule);
