/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"
#include "state/planner-device.h"

/* What this node measures of its compute devices: takes in results, lets go of devices that are gone, plans.
 */

/* A Node1.Compute record as the service that measures devices shows it: with those it has measured itself. */
void ald_devices_take(AldStateManager *manager, AldRecord *told);

void ald_devices_prune(AldStateManager *manager);

/* The AldDueDevices. The time in the input is filled in here. */
GArray *ald_devices_due(AldStateManager *manager, AldDeviceInput *input);
