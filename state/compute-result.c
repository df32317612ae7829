/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/compute-result.h"

static bool is_failure(const AldComputeDevice *row)
{
        return row->failed_usec != ALD_ABSENT_UINT64 &&
               (row->measured_usec == ALD_ABSENT_UINT64 || row->failed_usec >= row->measured_usec);
}

/* The fields of the matrix product, which are replaced together. */
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

/* Those of another metric, whose names begin so. */
static void keep(AldComputeDevice *row, const AldComputeDevice *before, const char *prefix)
{
        for (size_t i = 0; i < ald_compute_device_struct.n_fields; i++) {
                const AldField *field = &ald_compute_device_struct.fields[i];

                if (g_str_has_prefix(field->name, prefix))
                        ald_field_copy(field, row, before);
        }
}

static void keep_what_failed(AldComputeDevice *row, const AldComputeDevice *before)
{
        if (isnan(row->gemm_tflops))
                keep_gemm(row, before);
        if (row->memory_bandwidth_bytes_per_second == ALD_ABSENT_UINT64)
                keep(row, before, "MemoryBandwidth");
        if (row->copy_bandwidth_bytes_per_second == ALD_ABSENT_UINT64)
                keep(row, before, "CopyBandwidth");
        if (row->host_to_device_bytes_per_second == ALD_ABSENT_UINT64)
                keep(row, before, "HostToDevice");
        if (row->device_to_host_bytes_per_second == ALD_ABSENT_UINT64)
                keep(row, before, "DeviceToHost");
        if (isnan(row->peak_tflops))
                keep(row, before, "Peak");
}

static uint64_t failures_of(const AldComputeDevice *row)
{
        if (row->failed_usec == ALD_ABSENT_UINT64)
                return 0;
        return row->failures == ALD_ABSENT_UINT64 ? 1 : MAX(row->failures, 1);
}

/* Counts one more, unless it is the same failure. */
static uint64_t count_failures(const AldComputeDevice *before, const AldComputeDevice *reported)
{
        return before->failed_usec == reported->failed_usec ? MAX(failures_of(before), 1)
                                                            : failures_of(before) + 1;
}

static bool is_busy(const AldComputeDevice *row)
{
        return row->flags && g_strv_contains((const char *const *) row->flags, "busy");
}

/* A figure that was measured beside other work is worse than one that was not. */
static bool is_worse(const AldComputeDevice *reported, const AldComputeDevice *before)
{
        return reported->measured_usec != ALD_ABSENT_UINT64 && is_busy(reported) &&
               before->measured_usec != ALD_ABSENT_UINT64 && !is_busy(before);
}

static AldComputeDevice merge_failure(const AldComputeDevice *before, const AldComputeDevice *reported)
{
        AldComputeDevice merged = *reported;

        if (reported->measured_usec == ALD_ABSENT_UINT64)
                merged = *before;
        else if (!is_busy(before))
                keep_what_failed(&merged, before);
        merged.failure = reported->failure;
        merged.failed_usec = reported->failed_usec;
        merged.failures = count_failures(before, reported);
        return merged;
}

/* Only waits. */
static bool is_no_attempt(const AldComputeDevice *row)
{
        return row->measured_usec == ALD_ABSENT_UINT64 && row->failed_usec == ALD_ABSENT_UINT64;
}

static AldComputeDevice merge_row(const AldComputeDevice *before, const AldComputeDevice *reported)
{
        AldComputeDevice merged = *reported;

        if (before && (is_no_attempt(reported) || is_worse(reported, before)))
                merged = *before;
        else if (before && is_failure(reported))
                merged = merge_failure(before, reported);
        else if (is_failure(reported))
                merged.failures = failures_of(reported);
        /* The sender knows whether a measurement waits. */
        merged.waiting_since_usec = reported->waiting_since_usec;
        merged.waiting_reason = reported->waiting_reason;
        return merged;
}

static const AldComputeDevice *find(const AldCompute *compute, const char *id)
{
        return compute ? ald_rows_find(&compute->devices, id) : NULL;
}

static int make(GArray *rows, uint64_t updated_usec, AldRecord **ret)
{
        AldCompute compute = ALD_COMPUTE_INIT;
        int r;

        compute.devices.items = rows->data;
        compute.devices.n = rows->len;
        r = ald_record_new(ALD_KIND_COMPUTE, &compute, ret);
        if (r >= 0)
                (*ret)->updated_usec = updated_usec;
        return r;
}

int ald_compute_result_merge(AldRecord *before, AldRecord *reported, AldRecord **ret)
{
        const AldCompute *old = ald_record_as(before, COMPUTE, AldCompute);
        const AldCompute *new = ald_record_as(reported, COMPUTE, AldCompute);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldComputeDevice));

        for (size_t i = 0; i < new->devices.n; i++) {
                const AldComputeDevice *row = ald_rows_at(&new->devices, i);
                AldComputeDevice merged = merge_row(find(old, row->id), row);

                g_array_append_val(rows, merged);
        }
        for (size_t i = 0; old && i < old->devices.n; i++) {
                const AldComputeDevice *row = ald_rows_at(&old->devices, i);

                if (!find(new, row->id))
                        g_array_append_vals(rows, row, 1);
        }
        return make(rows, reported->updated_usec, ret);
}

/* The time of an attempt in the future is unknown. */
static bool is_old(uint64_t usec, uint64_t ttl_usec, uint64_t now)
{
        return usec == ALD_ABSENT_UINT64 || usec > now || now - usec >= ttl_usec;
}

AldRecord *ald_compute_result_prune(
        AldRecord *record, const AldBackends *backends, uint64_t ttl_usec, uint64_t now_realtime)
{
        const AldCompute *compute = ald_record_as(record, COMPUTE, AldCompute);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldComputeDevice));
        AldRecord *pruned = NULL;

        if (!compute || !backends)
                return NULL;
        for (size_t i = 0; i < compute->devices.n; i++) {
                const AldComputeDevice *row = ald_rows_at(&compute->devices, i);

                if (ald_rows_find(&backends->devices, row->id) ||
                        !is_old(row->measured_usec, ttl_usec, now_realtime) ||
                        !is_old(row->failed_usec, ttl_usec, now_realtime))
                        g_array_append_vals(rows, row, 1);
        }
        /* A subset of a record that fits also fits. */
        return rows->len < compute->devices.n && make(rows, record->updated_usec, &pruned) >= 0 ? pruned
                                                                                                : NULL;
}
