/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"
#include "services/telemetry/gpu/gpu-kfd.h"

/*
 * The rows of Joins in Node1.Backends: what joins the devices of the list, which are those that are shown, to
 * the host and to each other. Adds AldDeviceJoin to `rows`, at most ALD_GPU_JOINS_MAX; their strings are
 * those of the devices or are added to `texts`.
 */
#define ALD_GPU_JOINS_MAX 512u

void ald_gpu_joins(int root, const GPtrArray *gpus, const AldGpuKfd *kfd, GStringChunk *texts, GArray *rows);

/* Logs each pair of devices of which one reports other direct links of NVLink to the other than vice versa.
 * Such links have no row. */
void ald_gpu_joins_check(const GPtrArray *gpus);
