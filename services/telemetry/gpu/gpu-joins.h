/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"
#include "services/telemetry/gpu/gpu-kfd.h"

/*
 * Makes the rows of Joins in Node1.Backends, which show what joins the devices of the list to the host and to
 * each other. The list has the devices that are shown. Adds AldDeviceJoin to `rows`, at most
 * ALD_GPU_JOINS_MAX; their strings belong to the devices or are added to `texts`.
 */
#define ALD_GPU_JOINS_MAX 512u

void ald_gpu_joins(int root, const GPtrArray *gpus, const AldGpuKfd *kfd, GStringChunk *texts, GArray *rows);

/* Logs each pair of devices that report different numbers of direct NVLink links to each other. Such links
 * have no row. */
void ald_gpu_joins_check(const GPtrArray *gpus);
