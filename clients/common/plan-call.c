/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/common/plan-call.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "record/record-bus.h"

#define BYTES_MAX (64u * 1024 * 1024)

int ald_plan_call_new(
        sd_bus *bus, const AldPlanWorkload *workload, const AldPlanOptions *options, sd_bus_message **ret)
{
        g_autoptr(AldMessage) call = NULL;
        int r = sd_bus_message_new_method_call(
                bus, &call, ALD_PLACEMENT_NAME, ALD_PLACEMENT_PATH, ALD_PLACEMENT_INTERFACE, "Plan");

        if (r >= 0)
                r = ald_record_bus_append_struct(call, &ald_plan_workload_struct, workload);
        if (r >= 0)
                r = ald_record_bus_append_struct(call, &ald_plan_options_struct, options);
        if (r >= 0)
                *ret = g_steal_pointer(&call);
        return r;
}

/* Copies a row whose strings point into the message. */
static void keep_row(AldPlanReport *report, const AldStruct *type, const void *row, void *to)
{
        void *copy = ald_struct_dup(type, row);

        g_ptr_array_add(report->owned, copy);
        memcpy(to, copy, type->size);
}

static int read_part(
        sd_bus_message *reply, const AldPlanReportPart *part, AldPlanReport *report, GPtrArray *owned)
{
        GArray *kept = ald_plan_report_part(report, part);
        AldRows rows;
        int r = ald_record_bus_read_rows(reply, part->type, BYTES_MAX, owned, &rows);

        if (r < 0)
                return r;
        g_array_set_size(kept, (guint) rows.n);
        for (size_t i = 0; i < rows.n; i++)
                keep_row(report, part->type, ald_rows_at(&rows, i), kept->data + i * part->type->size);
        return 0;
}

int ald_plan_call_read(sd_bus_message *reply, AldPlanReport **ret)
{
        g_autoptr(AldPlanReport) report = ald_plan_report_new();
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldPlanRow row;
        int r = ald_record_bus_read_row(reply, &ald_plan_row_struct, BYTES_MAX, owned, &row);

        if (r >= 0)
                keep_row(report, &ald_plan_row_struct, &row, &report->plan);
        for (size_t i = 0; r >= 0 && i < ALD_PLAN_REPORT_PARTS; i++)
                r = read_part(reply, &ald_plan_report_parts[i], report, owned);
        if (r < 0)
                return -EBADMSG;
        *ret = g_steal_pointer(&report);
        return 0;
}
