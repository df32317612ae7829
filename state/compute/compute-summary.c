/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/compute/compute-summary.h"
#include "state/compute/doubts.h"

const char *ald_left_out_to_string(AldLeftOut reason)
{
        static const char *const strings[] = { "Disbelieved", "Failed", "NeverMeasured", "NoOpenCl",
                "OtherPrecision" };

        g_assert((size_t) reason < G_N_ELEMENTS(strings));
        return strings[reason];
}

void ald_sum_add(uint64_t *sum, uint64_t value)
{
        if (value > (uint64_t) ALD_INTEGER_MAX)
                return;
        *sum = *sum == ALD_ABSENT_UINT64 ? value : MIN(*sum + value, (uint64_t) ALD_INTEGER_MAX);
}

void ald_sum_add_double(double *sum, double value)
{
        if (isfinite(value) && value >= 0)
                *sum = isfinite(*sum) ? *sum + value : value;
}

static bool is_processor(const AldBackend *backend)
{
        return strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0;
}

static const AldComputeDevice *find_device(const AldCompute *compute, const AldBackend *backend)
{
        return compute ? ald_rows_find(&compute->devices, backend->id) : NULL;
}

static bool has_bandwidth(const AldComputeDevice *device)
{
        return device->memory_bandwidth_bytes_per_second <= (uint64_t) ALD_INTEGER_MAX;
}

static bool is_measured(const AldComputeDevice *device)
{
        return device &&
               (isfinite(device->tflops_fp16) || isfinite(device->gemm_tflops) || has_bandwidth(device));
}

bool ald_compute_is_split(const AldBackends *backends, const AldBackend *backend)
{
        for (size_t i = 0; i < backends->devices.n; i++)
                if (g_strcmp0(((const AldBackend *) ald_rows_at(&backends->devices, i))->parent,
                            backend->id) == 0)
                        return true;
        return false;
}

bool ald_compute_has_fp32_only(const AldComputeDevice *device)
{
        return !isfinite(device->tflops_fp16) && isfinite(device->gemm_tflops) && device->gemm_tflops >= 0 &&
               g_strcmp0(device->precision,
                       ald_compute_device_precision_to_string(ALD_COMPUTE_DEVICE_PRECISION_FP32)) == 0;
}

static AldComputeOf choose_devices(const AldBackends *backends, const AldCompute *compute)
{
        AldComputeOf of = ALD_COMPUTE_OF_NONE;

        for (size_t i = 0; i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);

                if (!backend->class || ald_compute_is_split(backends, backend) ||
                        !is_measured(find_device(compute, backend)))
                        continue;
                if (!is_processor(backend))
                        return ALD_COMPUTE_OF_GPUS;
                of = ALD_COMPUTE_OF_PROCESSORS;
        }
        return of;
}

static AldLeftOut left_out_reason(const AldBackend *backend, const AldComputeDevice *device)
{
        if (device && (device->failure || device->failed_usec != ALD_ABSENT_UINT64))
                return ALD_LEFT_OUT_FAILED;
        return backend->open_cl_platform ? ALD_LEFT_OUT_NEVER_MEASURED : ALD_LEFT_OUT_NO_OPENCL;
}

static void add_device(AldComputeSummary *summary, const AldBackend *backend, const AldComputeDevice *device,
        const AldDoubts *doubts)
{
        bool counts = is_processor(backend) ? summary->of == ALD_COMPUTE_OF_PROCESSORS
                                            : summary->of == ALD_COMPUTE_OF_GPUS;
        bool has_product = !ald_doubts_find(doubts, backend->id, ALD_DOUBT_FIELD_GEMMTFLOPS);
        bool has_memory = !ald_doubts_find(
                doubts, backend->id, ALD_DOUBT_FIELD_MEMORYBANDWIDTHBYTESPERSECOND);
        AldLeftOut reason = left_out_reason(backend, device);

        if (is_processor(backend) && summary->of == ALD_COMPUTE_OF_GPUS)
                return;
        if (counts && device && has_product) {
                ald_sum_add_double(&summary->tflops_fp16, device->tflops_fp16);
                if (ald_compute_has_fp32_only(device)) {
                        ald_sum_add_double(&summary->tflops_fp32, device->gemm_tflops);
                        summary->fp32_devices++;
                }
        }
        if (counts && device && has_memory)
                ald_sum_add(&summary->memory_bandwidth_bytes_per_second,
                        device->memory_bandwidth_bytes_per_second);
        if (!has_product)
                summary->tflops_fp16_left_out[ALD_LEFT_OUT_DISBELIEVED]++;
        else if (!device || (!isfinite(device->tflops_fp16) && !isfinite(device->gemm_tflops)))
                summary->tflops_fp16_left_out[reason]++;
        else if (!isfinite(device->tflops_fp16) && !ald_compute_has_fp32_only(device))
                summary->tflops_fp16_left_out[ALD_LEFT_OUT_OTHER_PRECISION]++;
        if (!has_memory)
                summary->memory_bandwidth_left_out[ALD_LEFT_OUT_DISBELIEVED]++;
        else if (!device || !has_bandwidth(device))
                summary->memory_bandwidth_left_out[reason]++;
}

void ald_compute_summary(const AldBackends *backends, const AldCompute *compute, const AldDoubts *doubts,
        AldComputeSummary *ret)
{
        AldComputeSummary summary = {
                .tflops_fp16 = ALD_ABSENT_DOUBLE,
                .tflops_fp32 = ALD_ABSENT_DOUBLE,
                .memory_bandwidth_bytes_per_second = ALD_ABSENT_UINT64,
        };

        if (backends)
                summary.of = choose_devices(backends, compute);
        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);

                if (backend->class && !ald_compute_is_split(backends, backend))
                        add_device(&summary, backend, find_device(compute, backend), doubts);
        }
        *ret = summary;
}
