/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"

/* Reads the figures that the driver of a device shows in sysfs, whatever the driver. */
typedef struct AldGpuReader AldGpuReader;

/* Finds the files; reads nothing that would wake the device. */
AldGpuReader *ald_gpu_reader_new(int root, const AldGpu *gpu);
void ald_gpu_reader_free(AldGpuReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuReader, ald_gpu_reader_free)

/* Returns whether both read the same files. */
bool ald_gpu_reader_same(const AldGpuReader *a, const AldGpuReader *b);

/* Sets the figures that can be read, and leaves the others as they are. Call it only for a device that is
 * awake. */
void ald_gpu_reader_read(AldGpuReader *reader, int64_t now_usec, AldDevice *device);

/* Returns the path of a file that the last reading was not allowed to read, or NULL. */
const char *ald_gpu_reader_refused_file(const AldGpuReader *reader);

/* The statistics of the queues of v3d. */
#define ALD_V3D_QUEUES_MAX 16u
typedef struct AldV3dStats {
        uint64_t when_ns;
        unsigned n_queues;
        uint64_t busy_ns[ALD_V3D_QUEUES_MAX];
} AldV3dStats;

bool ald_gpu_parse_v3d_stats(const char *text, AldV3dStats *ret);

/* Returns the share of time that the busiest queue worked in percent, or absent. */
double ald_gpu_v3d_usage(const AldV3dStats *before, const AldV3dStats *after);
