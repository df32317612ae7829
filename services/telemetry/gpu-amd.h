/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu-device.h"

/* What amdgpu tells of a device; see gpu-amd.c for how an APU is known. */
void ald_gpu_amd_facts(int root, const char *path, uint16_t device, AldGpuFacts *facts);
