/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"

#define ALD_CPU_ID "cpu"

/* Returns the processor as a compute device; never NULL. */
AldGpu *ald_gpu_cpu(int root, uint64_t host_memory);

/* Returns MemTotal of /proc/meminfo in bytes, or absent. */
uint64_t ald_gpu_host_memory(int root);
