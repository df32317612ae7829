/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu-device.h"

/*
 * Says which devices can compute by OpenCL: gives each device that OpenCL shows to its
 * row, by PCI address, else where only one row can be meant; processors to the row of the processor. A
 * MIG instance belongs to its own row if its name identifies it, a partition or virtual function to none.
 * What remains gets a row of its own, added to the list. A device that several platforms show is taken from
 * the one of its vendor. What OpenCL said before is forgotten.
 */
void ald_opencl_match(const AldOpenclAnswer *answer, GPtrArray *gpus);
