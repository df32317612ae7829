/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/results/compute-result.h"
#include "state/results/row-result.h"

/* Keeps the fields of the matrix product, which are replaced together. */
static void keep_gemm(AldComputeDevice *row, const AldComputeDevice *before)
{
        row->gemm_tflops = before->gemm_tflops;
        row->gemm_median_tflops = before->gemm_median_tflops;
        row->gemm_interval = before->gemm_interval;
        row->precision = before->precision;
        row->accumulator = before->accumulator;
        row->tflops_fp16 = before->tflops_fp16;
        row->method = before->method;
}

/* Keeps the fields of another metric, whose names begin with this prefix. */
static void keep_fields(AldComputeDevice *row, const AldComputeDevice *before, const char *prefix)
{
        for (size_t i = 0; i < ald_compute_device_struct.n_fields; i++) {
                const AldField *field = &ald_compute_device_struct.fields[i];

                if (g_str_has_prefix(field->name, prefix))
                        ald_field_copy(field, row, before);
        }
}

static void keep_unmeasured_metrics(AldComputeDevice *row, const AldComputeDevice *before)
{
        if (isnan(row->gemm_tflops))
                keep_gemm(row, before);
        if (row->memory_bandwidth_bytes_per_second == ALD_ABSENT_UINT64)
                keep_fields(row, before, "MemoryBandwidth");
        if (row->copy_bandwidth_bytes_per_second == ALD_ABSENT_UINT64)
                keep_fields(row, before, "CopyBandwidth");
        if (row->host_to_device_bytes_per_second == ALD_ABSENT_UINT64)
                keep_fields(row, before, "HostToDevice");
        if (row->device_to_host_bytes_per_second == ALD_ABSENT_UINT64)
                keep_fields(row, before, "DeviceToHost");
        if (isnan(row->peak_tflops))
                keep_fields(row, before, "Peak");
}

static bool is_busy(const void *row)
{
        return ald_row_flags_are_busy(((const AldComputeDevice *) row)->flags);
}

/* A figure that was measured beside other work is worse than one that was not. */
static bool is_worse(const void *reported, const void *before)
{
        return is_busy(reported) && !is_busy(before);
}

static void keep_unless_busy(void *merged, const void *before)
{
        if (!is_busy(before))
                keep_unmeasured_metrics(merged, before);
}

static const AldRowResult devices = {
        .kind = ALD_KIND_COMPUTE,
        .is_worse = is_worse,
        .keep = keep_unless_busy,
};

int ald_compute_result_merge(AldRecord *before, AldRecord *reported, AldRecord **ret)
{
        return ald_row_result_merge(&devices, before, reported, ret);
}

AldRecord *ald_compute_result_prune(
        AldRecord *record, const AldBackends *backends, uint64_t ttl_usec, uint64_t now_realtime)
{
        return record && backends
                       ? ald_row_result_prune(&devices, record, &backends->devices, ttl_usec, now_realtime)
                       : NULL;
}
