/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/probe/row-results.h"

struct AldComputeResults {
        AldRecord *record;      /* Node1.Compute: the last row of each device; NULL: none yet */
        GHashTable *other_work; /* the devices that other work used when they were last measured */
        void (*changed)(const AldCompute *fields, void *userdata);
        void *userdata;
};

AldComputeResults *ald_compute_results_new(void)
{
        AldComputeResults *results = g_new0(AldComputeResults, 1);

        results->other_work = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return results;
}

void ald_compute_results_free(AldComputeResults *results)
{
        if (!results)
                return;
        g_clear_pointer(&results->record, ald_record_unref);
        g_hash_table_unref(results->other_work);
        g_free(results);
}

void ald_compute_results_watch(
        AldComputeResults *results, void (*changed)(const AldCompute *fields, void *userdata), void *userdata)
{
        results->changed = changed;
        results->userdata = userdata;
}

const AldComputeDevice *ald_compute_results_find(const AldComputeResults *results, const char *device)
{
        const AldCompute *compute = ald_record_as(results->record, COMPUTE, AldCompute);

        return compute ? ald_rows_find(&compute->devices, device) : NULL;
}

/* Replaces the row of the device; the state service keeps earlier figures. */
static void put(AldComputeResults *results, const AldComputeDevice *row)
{
        const AldCompute *before = ald_record_as(results->record, COMPUTE, AldCompute);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldComputeDevice));
        AldCompute compute = ALD_COMPUTE_INIT;
        AldRecord *record;

        g_array_append_vals(rows, row, 1);
        for (size_t i = 0; before && i < before->devices.n; i++) {
                const AldComputeDevice *other = ald_rows_at(&before->devices, i);

                if (!g_str_equal(other->id, row->id))
                        g_array_append_vals(rows, other, 1);
        }
        compute.devices.items = rows->data;
        compute.devices.n = rows->len;
        if (ald_record_new(ALD_KIND_COMPUTE, &compute, &record) < 0) {
                g_warning("Too many compute devices to report");
                return;
        }
        g_clear_pointer(&results->record, ald_record_unref);
        results->record = record;
        if (results->changed)
                results->changed(ald_record_fields(record), results->userdata);
}

bool ald_compute_results_met_other_work(const AldComputeResults *results, const char *device)
{
        return g_hash_table_contains(results->other_work, device);
}

/* A device that other work uses during each measurement waits like one that is never free. */
static void put_failure(
        AldComputeResults *results, const AldProbeTarget *target, const char *reason, uint64_t realtime_usec)
{
        const AldComputeDevice *before = ald_compute_results_find(results, target->device);
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;

        row.id = target->device;
        row.failure = reason;
        row.failed_usec = realtime_usec;
        if (ald_compute_results_met_other_work(results, target->device)) {
                row.waiting_since_usec = before && before->waiting_since_usec != ALD_ABSENT_UINT64
                                                 ? before->waiting_since_usec
                                                 : realtime_usec;
                row.waiting_reason = "other work runs while it is measured";
        }
        put(results, &row);
}

void ald_compute_results_take(AldComputeResults *results, const AldProbeTarget *target,
        const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        g_autoptr(AldRecord) reported = NULL;

        if (answer->verdict == ALD_PROBE_LATER || !ald_compute_target_is_whole(target))
                return;
        if (answer->other_work)
                g_hash_table_add(results->other_work, g_strdup(target->device));
        else
                g_hash_table_remove(results->other_work, target->device);
        if (answer->verdict == ALD_PROBE_FAILED)
                put_failure(results, target, answer->reason, realtime_usec);
        else if (ald_compute_answer_record(answer, target->driver_version, realtime_usec, &reported) < 0)
                put_failure(results, target, "the probe returned no figures", realtime_usec);
        else
                put(results, ald_rows_at(&ald_record_as(reported, COMPUTE, AldCompute)->devices, 0));
}

void ald_compute_results_wait(
        AldComputeResults *results, const char *device, uint64_t since_usec, const char *reason)
{
        const AldComputeDevice *before = ald_compute_results_find(results, device);
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;

        if (before)
                row = *before;
        row.id = device;
        row.waiting_since_usec = since_usec;
        row.waiting_reason = reason;
        put(results, &row);
}
