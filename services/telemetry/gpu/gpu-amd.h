/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"

/* What amdgpu reports about a device with this PCI number; see gpu-amd.c for how an APU is detected. */
void ald_gpu_amd_facts(int root, uint16_t device, AldGpu *gpu);
