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

static AldRecord *make_failure(const AldComputeTarget *target, const char *reason, uint64_t realtime_usec)
{
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;
        AldCompute compute = ALD_COMPUTE_INIT;
        AldRecord *record;
        int r;

        row.id = target->device;
        row.failure = reason;
        row.failed_usec = realtime_usec;
        compute.devices.items = &row;
        compute.devices.n = 1;
        r = ald_record_new(ALD_KIND_COMPUTE, &compute, &record);
        g_assert(r >= 0); /* A row of two strings of bounded length fits. */
        return record;
}

static AldRecord *make_record(
        const AldComputeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        AldRecord *record;

        if (answer->verdict == ALD_PROBE_FAILED)
                return make_failure(target, answer->reason, realtime_usec);
        if (ald_compute_answer_record(answer, target->driver_version, realtime_usec, &record) < 0)
                return make_failure(target, "the probe gave no figures", realtime_usec);
        return record;
}

void ald_compute_results_take(AldComputeResults *results, const AldComputeTarget *target,
        const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        g_autoptr(AldRecord) told = NULL;
        AldRecord *merged;

        if (answer->verdict == ALD_PROBE_LATER || target->metrics != ALD_COMPUTE_ALL)
                return;
        told = make_record(target, answer, realtime_usec);
        if (ald_compute_result_merge(results->record, told, &merged) < 0) {
                g_warning("There are too many compute devices to tell of");
                return;
        }
        g_clear_pointer(&results->record, ald_record_unref);
        results->record = merged;
        if (results->changed)
                results->changed(ald_record_fields(merged), results->userdata);
}
