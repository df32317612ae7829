/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* More memory than any device has. */
#define ALD_GPU_MEMORY_MAX (UINT64_C(1) << 50)

/* More processes than any machine has. */
#define ALD_GPU_PROCESSES_MAX (UINT64_C(1) << 22)

/* Whatever a driver, a file or a library tells: figures that no device can have become absent. */
void ald_gpu_figures_check(AldDevice *device);

/* Takes over the figures that `from` has. */
void ald_gpu_figures_overlay(AldDevice *device, const AldDevice *from);
