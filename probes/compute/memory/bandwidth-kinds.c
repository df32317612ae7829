/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/kernels.h"
#include "probes/compute/memory/bandwidth.h"

static const AldShape read_cpu_shapes[] = {
        { "prefetch", "read_prefetch", 1, 256 },
        { "streams-4", "read_streams", 1, 256 },
        { "plain", "read_plain", 1, 256 },
};

static const AldShape copy_cpu_shapes[] = {
        { "past-streams-2", "copy_past_streams", 1, 256 },
        { "past", "copy_past", 1, 256 },
        { "plain", "copy_plain", 1, 256 },
};

/* Large AMD chips want fewer work-items with more loads each, others more. */
static const AldShape read_gpu_shapes[] = {
        { "tile-8", "read_tile_8", 256, 2048 },
        { "grid-8", "read_grid_8", 256, 2048 },
        { "tile-4", "read_tile_4", 256, 2048 },
        { "tile-16", "read_tile_16", 256, 1024 },
        { "grid-16", "read_grid_16", 256, 1024 },
        { "tile-4-many", "read_tile_4", 256, 8192 },
        { "tile-8-large", "read_tile_8", 1024, 4096 },
        { "grid-4", "read_grid_4", 256, 2048 },
};

static const AldShape copy_gpu_shapes[] = {
        { "tile-4", "copy_tile_4", 256, 2048 },
        { "grid-4", "copy_grid_4", 256, 2048 },
        { "tile-2", "copy_tile_2", 256, 2048 },
        { "tile-8", "copy_tile_8", 256, 1024 },
        { "grid-8", "copy_grid_8", 256, 1024 },
        { "tile-2-many", "copy_tile_2", 256, 8192 },
        { "tile-4-large", "copy_tile_4", 1024, 4096 },
        { "grid-2", "copy_grid_2", 256, 2048 },
};

const AldBandwidth ald_read_cpu = { ald_kernel_read_cpu, read_cpu_shapes, G_N_ELEMENTS(read_cpu_shapes),
        false };
const AldBandwidth ald_copy_cpu = { ald_kernel_copy_cpu, copy_cpu_shapes, G_N_ELEMENTS(copy_cpu_shapes),
        true };
const AldBandwidth ald_read_gpu = { ald_kernel_read_gpu, read_gpu_shapes, G_N_ELEMENTS(read_gpu_shapes),
        false };
const AldBandwidth ald_copy_gpu = { ald_kernel_copy_gpu, copy_gpu_shapes, G_N_ELEMENTS(copy_gpu_shapes),
        true };

static bool is_cpu(const AldOpenclSession *session)
{
        return session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU;
}

int ald_read_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return ald_bandwidth_measure(
                session, is_cpu(session) ? &ald_read_cpu : &ald_read_gpu, options, ret, failure);
}

int ald_copy_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return ald_bandwidth_measure(
                session, is_cpu(session) ? &ald_copy_cpu : &ald_copy_gpu, options, ret, failure);
}
