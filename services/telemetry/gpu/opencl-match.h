/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"

/*
 * Marks the devices that can compute with OpenCL: assigns each device that OpenCL shows to its row, by PCI
 * address, else if only one row matches; processors to the row of the processor. A MIG instance belongs to
 * its own row if its name identifies it; partitions and virtual functions belong to none. Other devices get a
 * row of their own, which is added to the list. A device that several platforms show is taken from the
 * platform of its vendor. Replaces earlier assignments.
 */
void ald_opencl_match(const AldOpenclAnswer *answer, GPtrArray *gpus);
