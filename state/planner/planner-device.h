/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner.h"

/* Computes which compute devices of this node are due from the state alone, as for paths. */

/* A device with a higher usage is not measured; its probe checks again with the same limit. */
#define ALD_DEVICE_USAGE_MAX_PERCENT 10.0

/*
 * Returns the AldDueProbes of devices, the most urgent first: those that an OpenCL platform shows and that
 * are free according to ald_device_assess(). Measure only one at a time.
 */
GArray *ald_planner_devices(AldStore *store, const AldPlannerInput *input);

/* The obstacle to the measurement of a device. */
typedef enum AldDeviceObstacle {
        ALD_DEVICE_FREE,
        ALD_DEVICE_ASLEEP,       /* it is not woken to repeat a known measurement */
        ALD_DEVICE_COMPUTED_ON,  /* processes hold it for computing, at any load */
        ALD_DEVICE_IN_USE,       /* by more than ALD_DEVICE_USAGE_MAX_PERCENT */
        ALD_DEVICE_LOAD_UNKNOWN, /* its load is not reported, and it already has figures */
} AldDeviceObstacle;

/* Describes an obstacle, such as "processes compute on it"; not for ALD_DEVICE_FREE. */
const char *ald_device_obstacle_to_string(AldDeviceObstacle obstacle);

/* The records of a node. */
typedef struct AldDeviceRecords {
        AldId node;
        const AldBackends *backends;
        const AldCompute *compute; /* or NULL */
        const AldSystem *system;   /* or NULL: nothing reports loads */
        uint64_t system_usec;      /* when it was updated; 0: not known */
} AldDeviceRecords;

typedef struct AldDeviceAssessment {
        AldPathState state;
        AldDeviceObstacle obstacle;
} AldDeviceAssessment;

/* Returns whether the device is due, and what prevents its measurement. The load of processors is not
 * considered: the measuring service reads it itself. */
AldDeviceAssessment ald_device_assess(
        const AldDeviceRecords *records, const AldBackend *backend, uint64_t now_realtime);

/* Returns the obstacle for a device, whether or not it is due. */
AldDeviceObstacle ald_device_obstacle(
        const AldDeviceRecords *records, const AldBackend *backend, uint64_t now_realtime);

/* Returns whether a device can be measured: OpenCL shows it, and it is not split into instances, which are
 * measured instead. */
bool ald_device_is_measurable(const AldBackends *backends, const AldBackend *backend);
