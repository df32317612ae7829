/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner-path.h"

/* Which compute devices of this node are to be measured now, computed from the state alone, as the paths are
 * (state/planner.h). */
typedef struct AldDeviceInput {
        uint64_t now_realtime; /* µs */
        size_t max;
        const char *const *avoid; /* Ids not to be measured now */
        size_t n_avoid;
} AldDeviceInput;

typedef struct AldDueDevice {
        const char *id; /* points into the record of Node1.Backends */
        AldDueReason reason;
        uint64_t since; /* maybe absent */
} AldDueDevice;

/* A device in use by more than this is left to those who work. */
#define ALD_DEVICE_USAGE_MAX_PERCENT 10.0

/*
 * The AldDueDevices, the most urgent first: those that an OpenCL platform shows and that are free, as
 * ald_device_judge() says. Only one is to be measured at a time.
 */
GArray *ald_planner_devices(AldStore *store, const AldDeviceInput *input);

/* What keeps a device from being measured now. */
typedef enum AldDeviceObstacle {
        ALD_DEVICE_FREE,
        ALD_DEVICE_ASLEEP,       /* it is not woken only to repeat what is known */
        ALD_DEVICE_COMPUTED_ON,  /* processes hold it for computing, at whatever load */
        ALD_DEVICE_IN_USE,       /* by more than ALD_DEVICE_USAGE_MAX_PERCENT */
        ALD_DEVICE_LOAD_UNKNOWN, /* nothing reports its load, and it has a figure */
} AldDeviceObstacle;

/* In words, such as "processes compute on it"; not of a device that is free. */
const char *ald_device_obstacle_to_string(AldDeviceObstacle obstacle);

/* The records of a node. */
typedef struct AldDeviceRecords {
        AldId node;
        const AldBackends *backends;
        const AldCompute *compute; /* or NULL */
        const AldSystem *system;   /* or NULL: nothing reports loads */
        uint64_t system_usec;      /* when it was updated; 0: not known */
} AldDeviceRecords;

typedef struct AldDeviceJudgement {
        AldPathState state;
        AldDeviceObstacle obstacle;
} AldDeviceJudgement;

/* Whether the device is due, and what keeps it from being measured. The load of processors is not judged:
 * the measuring service reads it itself. */
AldDeviceJudgement ald_device_judge(
        const AldDeviceRecords *records, const AldBackend *backend, uint64_t now_realtime);

/* The obstacle of a device that is to be measured whether it is due or not. */
AldDeviceObstacle ald_device_obstacle(
        const AldDeviceRecords *records, const AldBackend *backend, uint64_t now_realtime);

/* Whether it can be measured: OpenCL shows it, and it is not split into instances, which are measured then.
 */
bool ald_device_is_measurable(const AldBackends *backends, const AldBackend *backend);
