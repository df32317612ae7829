/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads why Intel's drivers hold down the clocks of a device: i915 shows it for each engine block of the card
 * (gt/gt0), xe for each of each tile (tile0/gt0). */
typedef struct AldGpuThrottle AldGpuThrottle;

/* Finds the files of a device, of which this is the directory in sysfs. Returns NULL if there are none. */
AldGpuThrottle *ald_gpu_throttle_new(int root, const char *device);
void ald_gpu_throttle_free(AldGpuThrottle *throttle);

/* Returns the reasons as AldThrottle; negative if no file can be read. */
int ald_gpu_throttle_read(AldGpuThrottle *throttle);
