/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/local/device-schedule.h"
#include "services/link-probe/state/node-records.h"

/* The present state of a device of this machine that a kind measures. */
typedef struct AldLocalDevice {
        const char *id; /* valid as long as the records */
        bool due;
        bool asleep;          /* it is not woken to be measured, so it does not wait */
        const char *obstacle; /* describes the other work that keeps it from being measured; or NULL */
} AldLocalDevice;

/*
 * Defines how a local kind is measured automatically (device-schedule.h) and how its results are kept
 * (row-results.h).
 */
struct AldLocalKind {
        const char *key; /* key of [link-probe] that enables automatic measurements */

        /* Create and free further state of the kind; see ald_device_schedule_state(). */
        void *(*new_state)(const AldDeviceScheduleParts *parts);
        void (*free_state)(void *state);

        /* Appends the ids that must not be measured automatically now; they are to be freed. Called every 15
         * s, even if nothing may be measured. */
        void (*avoid)(AldDeviceSchedule *schedule, GPtrArray *ids);
        /* Returns an AldLocalDevice for each device that can be measured, from the records of this machine
         * that have just arrived. */
        GArray *(*look)(AldDeviceSchedule *schedule, const AldNodeRecords *own, uint64_t now_realtime);
        /* Returns the target for an automatic measurement of one of them. */
        AldProbeTarget (*target)(
                const AldDeviceSchedule *schedule, const AldNodeRecords *own, const char *id);
        /* Describes why the target must not be measured now; NULL if it may be. The caller frees the text. */
        char *(*obstacle)(AldDeviceSchedule *schedule, const AldProbeTarget *target);
        /* Called when any probe has ended, automatic or requested, and its row has been stored. */
        void (*ended)(
                AldDeviceSchedule *schedule, const AldProbeTarget *target, const AldProbeAnswer *answer);

        /* Creates the record, with a single row, of a measurement that is done. The time is CLOCK_REALTIME in
         * µs. Negative on error. */
        int (*record)(const AldProbeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec,
                AldRecord **ret);
};
