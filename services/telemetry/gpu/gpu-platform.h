/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"

/* Adds the GPUs that are part of a system on chip: Tegra, v3d, Mali, Adreno. They share the memory of the
 * host. */
void ald_gpu_platform_scan(int root, GPtrArray *gpus);
