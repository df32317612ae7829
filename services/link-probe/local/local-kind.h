/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/local/device-schedule.h"
#include "services/link-probe/state/node-records.h"

/* A device of this machine that a kind measures, as it stands now. */
typedef struct AldLocalDevice {
        const char *id; /* valid as long as the records */
        bool due;
        bool asleep;          /* it is not woken to be measured, and nothing waits for that */
        const char *obstacle; /* the other work that keeps it from being measured, in words, or NULL */
} AldLocalDevice;

/*
 * All that differs between the kinds of probes of this machine for what measures them without a request
 * (device-schedule.h) and keeps their results (row-results.h).
 */
struct AldLocalKind {
        const char *key; /* of [link-probe], without which they are measured on request only */

        /* Further state of the kind; see ald_device_schedule_state(). */
        void *(*new_state)(const AldDeviceScheduleParts *parts);
        void (*free_state)(void *state);

        /* Appends the ids that are not measured now without a request, to be freed. Called every 15 s, even
         * if nothing may be measured. */
        void (*avoid)(AldDeviceSchedule *schedule, GPtrArray *ids);
        /* Looks at the devices, with the records of this machine that have just arrived: AldLocalDevice, for
         * each that can be measured. */
        GArray *(*look)(AldDeviceSchedule *schedule, const AldNodeRecords *own, uint64_t now_realtime);
        /* The target for one of them, to be measured as if nobody requested it. */
        AldProbeTarget (*target)(
                const AldDeviceSchedule *schedule, const AldNodeRecords *own, const char *id);
        /* Returns in words why this must not be measured now, to be freed; NULL if it may be. */
        char *(*obstacle)(AldDeviceSchedule *schedule, const AldProbeTarget *target);
        /* Called when any probe has ended, due or requested; its row is there. */
        void (*ended)(
                AldDeviceSchedule *schedule, const AldProbeTarget *target, const AldProbeAnswer *answer);

        /* The record, with a single row, of a measurement that is done; CLOCK_REALTIME in µs. Negative if it
         * is not possible. */
        int (*record)(const AldProbeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec,
                AldRecord **ret);
};
