/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/results-bus.h"
#include "services/common/record-export.h"
#include "services/link-probe/job/job-paths.h"
#include "services/link-probe/kinds/probe-kinds.h"

struct AldResultsBus {
        AldResults *results;
        AldDeviceSchedule *const *schedules;
        AldRecordExport *exports[ALD_N_KINDS]; /* of kinds that probes measure */
};

static void on_link(AldKind kind, const char *key, const AldRecord *record, void *userdata)
{
        const AldResultsBus *self = userdata;

        if (record)
                (void) ald_record_export_put(self->exports[kind], key, ald_record_fields(record));
        else
                ald_record_export_drop(self->exports[kind], key);
}

static void on_rows(const AldRecord *record, void *userdata)
{
        const AldResultsBus *self = userdata;

        (void) ald_record_export_update(self->exports[record->kind], ald_record_fields(record));
}

static void watch_rows(
        const AldResultsBus *self, void (*changed)(const AldRecord *record, void *userdata), void *userdata)
{
        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                if ((*kind)->local)
                        ald_row_results_watch(ald_device_schedule_results(self->schedules[(*kind)->kind]),
                                changed, userdata);
}

int ald_results_bus_new(
        AldService *service, AldResults *results, AldDeviceSchedule *const *schedules, AldResultsBus **ret)
{
        g_autoptr(AldResultsBus) self = g_new0(AldResultsBus, 1);
        int r = 0;

        self->results = results;
        self->schedules = schedules;
        ald_results_watch(results, on_link, self);
        watch_rows(self, on_rows, self);
        for (const AldProbeKind *const *kind = ald_probe_kinds; r >= 0 && *kind; kind++)
                r = ald_record_export_new(service,
                        (*kind)->local ? ALD_LINK_PROBE_PATH : ALD_LINK_PROBE_LINK_PATH, (*kind)->kind,
                        &self->exports[(*kind)->kind]);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&self);
        return 0;
}

void ald_results_bus_free(AldResultsBus *self)
{
        if (!self)
                return;
        ald_results_watch(self->results, NULL, NULL);
        watch_rows(self, NULL, NULL);
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                ald_record_export_free(self->exports[kind]);
        g_free(self);
}
