/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/totals.h"

/* A sum of what is known; absent until something is. */
static void add(uint64_t *sum, uint64_t value)
{
        if (value > (uint64_t) ALD_INTEGER_MAX)
                return;
        *sum = *sum == ALD_ABSENT_UINT64 ? value : MIN(*sum + value, (uint64_t) ALD_INTEGER_MAX);
}

typedef struct Sums {
        AldTotals totals;
        bool has_gpu;
        uint64_t gpu_bandwidth;
        uint64_t cpu_bandwidth;
} Sums;

static bool is_cpu(const AldBackend *backend)
{
        return backend->class &&
               strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0;
}

/* A device whose class nobody told is neither. */
static bool is_gpu(const AldBackend *backend)
{
        return backend->class && !is_cpu(backend);
}

static void add_measured(Sums *sums, const AldComputeDevice *device, const AldBackend *backend)
{
        double *sum = &sums->totals.tflops_fp16;

        if (isfinite(device->tflops_fp16))
                *sum = isfinite(*sum) ? *sum + device->tflops_fp16 : device->tflops_fp16;
        else
                sums->totals.tflops_fp16_left_out++;

        if (backend && is_gpu(backend))
                add(&sums->gpu_bandwidth, device->memory_bandwidth_bytes_per_second);
        else if (backend && is_cpu(backend))
                add(&sums->cpu_bandwidth, device->memory_bandwidth_bytes_per_second);
}

static void add_device(Sums *sums, const AldBackend *backend)
{
        if (!is_gpu(backend))
                return;
        sums->has_gpu = true;
        if (backend->unified == 0)
                add(&sums->totals.device_memory_total_bytes, backend->memory_total_bytes);
}

static gboolean add_node(AldNode *node, void *userdata)
{
        Sums *sums = userdata;
        const AldMemory *memory = ald_record_as(ald_node_record(node, ALD_KIND_MEMORY), MEMORY, AldMemory);
        const AldBackends *backends = ald_record_as(
                ald_node_record(node, ALD_KIND_BACKENDS), BACKENDS, AldBackends);
        const AldCompute *compute = ald_record_as(
                ald_node_record(node, ALD_KIND_COMPUTE), COMPUTE, AldCompute);

        if (memory)
                add(&sums->totals.memory_total_bytes, memory->total_bytes);
        for (size_t i = 0; compute && i < compute->devices.n; i++) {
                const AldComputeDevice *device = ald_rows_at(&compute->devices, i);
                const AldBackend *backend = backends ? ald_rows_find(&backends->devices, device->id) : NULL;

                /* One that the node no longer has is out, though its row goes later. */
                if (backend || !backends)
                        add_measured(sums, device, backend);
        }
        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);

                add_device(sums, backend);
                if (!compute || !ald_rows_find(&compute->devices, backend->id))
                        sums->totals.tflops_fp16_left_out++;
        }
        return FALSE;
}

void ald_totals_compute(AldStore *store, AldTotals *ret)
{
        Sums sums = {
                .totals = {
                        .tflops_fp16 = ALD_ABSENT_DOUBLE,
                        .memory_bandwidth_of = "",
                        .memory_total_bytes = ALD_ABSENT_UINT64,
                        .device_memory_total_bytes = ALD_ABSENT_UINT64,
                },
                .gpu_bandwidth = ALD_ABSENT_UINT64,
                .cpu_bandwidth = ALD_ABSENT_UINT64,
        };
        uint64_t bandwidth;

        ald_store_foreach_node(store, add_node, &sums);
        bandwidth = sums.has_gpu ? sums.gpu_bandwidth : sums.cpu_bandwidth;
        sums.totals.memory_bandwidth_bytes_per_second = bandwidth;
        if (bandwidth != ALD_ABSENT_UINT64)
                sums.totals.memory_bandwidth_of = sums.has_gpu ? "gpu" : "cpu";
        *ret = sums.totals;
}
