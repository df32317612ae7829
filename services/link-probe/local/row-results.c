/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/link-probe/local/local-kind.h"
#include "services/link-probe/local/row-results.h"

struct AldRowResults {
        const AldProbeKind *kind;
        const AldField *list;   /* the field of the record that has the rows */
        AldRecord *record;      /* the last row of each device; NULL if there is none yet */
        GHashTable *other_work; /* devices that other work used when they were last measured */
        void (*changed)(const AldRecord *record, void *userdata);
        void *userdata;
};

AldRowResults *ald_row_results_new(const AldProbeKind *kind)
{
        AldRowResults *results = g_new0(AldRowResults, 1);

        results->kind = kind;
        results->list = ald_struct_find_rows(ald_kinds[kind->kind].type);
        results->other_work = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return results;
}

void ald_row_results_free(AldRowResults *results)
{
        if (!results)
                return;
        g_clear_pointer(&results->record, ald_record_unref);
        g_hash_table_unref(results->other_work);
        g_free(results);
}

void ald_row_results_watch(
        AldRowResults *results, void (*changed)(const AldRecord *record, void *userdata), void *userdata)
{
        results->changed = changed;
        results->userdata = userdata;
}

static const void *find_row(const AldRowResults *results, const AldRecord *record, const char *device)
{
        return record ? ald_rows_find(ald_record_field(record, results->list), device) : NULL;
}

const void *ald_row_results_find(const AldRowResults *results, const char *device)
{
        return find_row(results, results->record, device);
}

static const char *id_of(const void *row)
{
        return *(const char *const *) row;
}

void ald_row_results_put(AldRowResults *results, const void *row)
{
        const AldRows *before = results->record ? ald_record_field(results->record, results->list) : NULL;
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, (guint) results->list->rows->size);
        AldRecord *record;

        g_array_append_vals(rows, row, 1);
        for (size_t i = 0; before && i < before->n; i++) {
                const void *other = ald_rows_at(before, i);

                if (!g_str_equal(id_of(other), id_of(row)))
                        g_array_append_vals(rows, other, 1);
        }
        if (ald_record_new_of_rows(results->kind->kind, rows, &record) < 0) {
                g_warning("Too many %s to report", results->kind->noun);
                return;
        }
        g_clear_pointer(&results->record, ald_record_unref);
        results->record = record;
        if (results->changed)
                results->changed(record, results->userdata);
}

/* Stores a row with these fields; the others are copied from `onto`, or absent if it is NULL. */
static void put_fields(AldRowResults *results, const void *onto, const AldResultRow *fields)
{
        const AldStruct *type = results->list->rows;
        g_autofree void *row = g_memdup2(onto ?: type->absent, type->size);

        ald_result_row_write(type, row, fields);
        ald_row_results_put(results, row);
}

static AldResultRow read_fields(const AldRowResults *results, const void *row)
{
        return ald_result_row_read(results->list->rows, row);
}

AldResultRow ald_row_results_read(const AldRowResults *results, const char *device)
{
        return read_fields(results, ald_row_results_find(results, device));
}

AldResultRow ald_row_results_read_known(
        const AldRowResults *results, const AldRecord *stored, const char *device)
{
        return read_fields(
                results, ald_row_results_find(results, device) ?: find_row(results, stored, device));
}

bool ald_row_results_have_figures(const AldRowResults *results, const AldRecord *stored, const char *device)
{
        return ald_row_results_read(results, device).measured_usec != ALD_ABSENT_UINT64 ||
               read_fields(results, find_row(results, stored, device)).measured_usec != ALD_ABSENT_UINT64;
}

bool ald_row_results_met_other_work(const AldRowResults *results, const char *device)
{
        return g_hash_table_contains(results->other_work, device);
}

/* Stores a failure. A device that other work uses during each measurement counts as waiting, like one that is
 * never free. */
static void put_failure(
        AldRowResults *results, const AldProbeTarget *target, const char *reason, uint64_t realtime_usec)
{
        AldResultRow before = ald_row_results_read(results, target->device), row = ald_result_row_absent;

        row.id = target->device;
        row.failure = reason;
        row.failed_usec = realtime_usec;
        if (ald_row_results_met_other_work(results, target->device)) {
                row.waiting_since_usec = before.waiting_since_usec != ALD_ABSENT_UINT64
                                                 ? before.waiting_since_usec
                                                 : realtime_usec;
                row.waiting_reason = "other work runs while it is measured";
        }
        put_fields(results, NULL, &row);
}

void ald_row_results_take(AldRowResults *results, const AldProbeTarget *target, const AldProbeAnswer *answer,
        uint64_t realtime_usec)
{
        g_autoptr(AldRecord) reported = NULL;

        if (answer->verdict == ALD_PROBE_LATER || target->partial)
                return;
        if (answer->other_work)
                g_hash_table_add(results->other_work, g_strdup(target->device));
        else
                g_hash_table_remove(results->other_work, target->device);
        if (answer->verdict == ALD_PROBE_FAILED)
                put_failure(results, target, answer->reason, realtime_usec);
        else if (results->kind->local->record(target, answer, realtime_usec, &reported) < 0)
                put_failure(results, target, "the probe returned no figures", realtime_usec);
        else
                ald_row_results_put(results, ald_rows_at(ald_record_field(reported, results->list), 0));
}

void ald_row_results_wait(AldRowResults *results, const char *device, uint64_t since_usec, const char *reason)
{
        AldResultRow row = ald_row_results_read(results, device);

        row.id = device;
        row.waiting_since_usec = since_usec;
        row.waiting_reason = reason;
        put_fields(results, ald_row_results_find(results, device), &row);
}
