/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/compute-results.h"
#include "state/compute-result.h"

struct AldComputeResults {
        AldRecord *record; /* NULL: nothing yet */
        void (*changed)(const AldCompute *fields, void *userdata);
        void *userdata;
};

AldComputeResults *ald_compute_results_new(void)
{
        return g_new0(AldComputeResults, 1);
}

void ald_compute_results_free(AldComputeResults *results)
{
        if (!results)
                return;
        g_clear_pointer(&results->record, ald_record_unref);
        g_free(results);
}

void ald_compute_results_watch(
        AldComputeResults *results, void (*changed)(const AldCompute *fields, void *userdata), void *userdata)
{
        results->changed = changed;
        results->userdata = userdata;
}

static AldRecord *make_record_of_row(const AldComputeDevice *row)
{
        AldCompute compute = ALD_COMPUTE_INIT;
        AldRecord *record;
        int r;

        compute.devices.items = (AldComputeDevice *) row;
        compute.devices.n = 1;
        r = ald_record_new(ALD_KIND_COMPUTE, &compute, &record);
        g_assert(r >= 0); /* A row of a few strings of bounded length fits. */
        return record;
}

const AldComputeDevice *ald_compute_results_find(const AldComputeResults *results, const char *device)
{
        const AldCompute *compute = ald_record_as(results->record, COMPUTE, AldCompute);

        return compute ? ald_rows_find(&compute->devices, device) : NULL;
}

/* A device that always meets other work once it is measured waits as one that is never free. */
static AldRecord *make_failure(const AldComputeResults *results, const AldComputeTarget *target,
        const char *reason, uint64_t realtime_usec)
{
        const AldComputeDevice *before = ald_compute_results_find(results, target->device);
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;

        row.id = target->device;
        row.failure = reason;
        row.failed_usec = realtime_usec;
        if (ald_compute_answer_is_busy(reason)) {
                row.waiting_since_usec = before && before->waiting_since_usec != ALD_ABSENT_UINT64
                                                 ? before->waiting_since_usec
                                                 : realtime_usec;
                row.waiting_reason = "something else works while it is measured";
        }
        return make_record_of_row(&row);
}

static AldRecord *make_record(const AldComputeResults *results, const AldComputeTarget *target,
        const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        AldRecord *record;

        if (answer->verdict == ALD_PROBE_FAILED)
                return make_failure(results, target, answer->reason, realtime_usec);
        if (ald_compute_answer_record(answer, target->driver_version, realtime_usec, &record) < 0)
                return make_failure(results, target, "the probe gave no figures", realtime_usec);
        return record;
}

static void merge(AldComputeResults *results, AldRecord *told)
{
        AldRecord *merged;

        if (ald_compute_result_merge(results->record, told, &merged) < 0) {
                g_warning("There are too many compute devices to report");
                return;
        }
        g_clear_pointer(&results->record, ald_record_unref);
        results->record = merged;
        if (results->changed)
                results->changed(ald_record_fields(merged), results->userdata);
}

void ald_compute_results_take(AldComputeResults *results, const AldComputeTarget *target,
        const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        g_autoptr(AldRecord) told = NULL;

        if (answer->verdict == ALD_PROBE_LATER || target->metrics != ALD_COMPUTE_ALL)
                return;
        told = make_record(results, target, answer, realtime_usec);
        merge(results, told);
}

void ald_compute_results_wait(
        AldComputeResults *results, const char *device, uint64_t since_usec, const char *reason)
{
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;
        g_autoptr(AldRecord) told = NULL;

        row.id = device;
        row.waiting_since_usec = since_usec;
        row.waiting_reason = reason;
        told = make_record_of_row(&row);
        merge(results, told);
}
