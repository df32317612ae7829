/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/results/row-result.h"

#define FIELD(name_, type_, member)                                                        \
        {                                                                                  \
                .name = (name_), .type = (type_), .offset = offsetof(AldResultRow, member) \
        }

static const AldField fields[] = {
        FIELD("Id", ALD_TYPE_STRING, id),
        FIELD("MeasuredUSec", ALD_TYPE_UINT64, measured_usec),
        FIELD("Failure", ALD_TYPE_STRING, failure),
        FIELD("FailedUSec", ALD_TYPE_UINT64, failed_usec),
        FIELD("Failures", ALD_TYPE_UINT64, failures),
        FIELD("WaitingSinceUSec", ALD_TYPE_UINT64, waiting_since_usec),
        FIELD("WaitingReason", ALD_TYPE_STRING, waiting_reason),
};

const AldResultRow ald_result_row_absent = {
        .measured_usec = ALD_ABSENT_UINT64,
        .failed_usec = ALD_ABSENT_UINT64,
        .failures = ALD_ABSENT_UINT64,
        .waiting_since_usec = ALD_ABSENT_UINT64,
};

static const AldStruct result_row_struct = {
        .name = "AldResultRow",
        .fields = fields,
        .n_fields = G_N_ELEMENTS(fields),
        .size = sizeof(AldResultRow),
        .absent = &ald_result_row_absent,
};

AldResultRow ald_result_row_read(const AldStruct *type, const void *row)
{
        AldResultRow read = ald_result_row_absent;

        if (row)
                ald_struct_copy_common(&result_row_struct, &read, type, row);
        return read;
}

void ald_result_row_write(const AldStruct *type, void *row, const AldResultRow *written)
{
        ald_struct_copy_common(type, row, &result_row_struct, written);
}

bool ald_row_flags_are_busy(const char *const *flags)
{
        return flags && g_strv_contains(flags, "busy");
}

GPtrArray *ald_row_flags_with_busy(const char *const *flags)
{
        GPtrArray *list = g_ptr_array_new();

        for (const char *const *flag = flags; flag && *flag; flag++)
                g_ptr_array_add(list, (gpointer) *flag);
        if (!ald_row_flags_are_busy(flags))
                g_ptr_array_add(list, (gpointer) "busy");
        g_ptr_array_add(list, NULL);
        return list;
}

static const AldStruct *type_of(AldKind kind)
{
        return ald_struct_find_rows(ald_kinds[kind].type)->rows;
}

static const AldRows *rows_of(const AldRecord *record)
{
        return record ? ald_record_field(record, ald_struct_find_rows(ald_record_type(record))) : NULL;
}

static uint64_t failures_of(const AldResultRow *row)
{
        if (row->failed_usec == ALD_ABSENT_UINT64)
                return 0;
        return row->failures == ALD_ABSENT_UINT64 ? 1 : MAX(row->failures, 1);
}

/* Counts one more failure, unless it is the same one. */
static uint64_t count_failures(const AldResultRow *before, const AldResultRow *reported)
{
        return before->failed_usec == reported->failed_usec ? MAX(failures_of(before), 1)
                                                            : failures_of(before) + 1;
}

/* Returns whether a reported row replaces nothing of the earlier one, because it only waits or its figures
 * are worse. */
static bool changes_nothing(const AldRowResult *result, const AldResultRow *now, const void *reported,
        const AldResultRow *past, const void *before)
{
        if (now->measured_usec == ALD_ABSENT_UINT64)
                return now->failed_usec == ALD_ABSENT_UINT64;
        return past->measured_usec != ALD_ABSENT_UINT64 && result->is_worse(reported, before);
}

static void merge_row(const AldRowResult *result, const AldStruct *type, const void *before,
        const void *reported, void *merged)
{
        const AldResultRow past = ald_result_row_read(type, before),
                           now = ald_result_row_read(type, reported);
        bool stays = before && changes_nothing(result, &now, reported, &past, before);
        bool failed = now.failed_usec != ALD_ABSENT_UINT64 &&
                      (now.measured_usec == ALD_ABSENT_UINT64 || now.failed_usec >= now.measured_usec);
        AldResultRow row;

        memcpy(merged, stays || (before && now.measured_usec == ALD_ABSENT_UINT64) ? before : reported,
                type->size);
        row = ald_result_row_read(type, merged);
        if (!stays && failed) {
                if (before && now.measured_usec != ALD_ABSENT_UINT64 && result->keep)
                        result->keep(merged, before);
                row.failure = now.failure;
                row.failed_usec = now.failed_usec;
                row.failures = before ? count_failures(&past, &now) : failures_of(&now);
        }
        /* The sender knows whether a measurement waits. */
        row.waiting_since_usec = now.waiting_since_usec;
        row.waiting_reason = now.waiting_reason;
        ald_result_row_write(type, merged, &row);
        if (result->settle)
                result->settle(merged, before, reported);
}

static int make_record(AldKind kind, const GArray *rows, uint64_t updated_usec, AldRecord **ret)
{
        int r = ald_record_new_of_rows(kind, rows, ret);

        if (r >= 0)
                (*ret)->updated_usec = updated_usec;
        return r;
}

int ald_row_result_merge(const AldRowResult *result, AldRecord *before, AldRecord *reported, AldRecord **ret)
{
        const AldRows *old = rows_of(before), *new = rows_of(reported);
        const AldStruct *type = type_of(result->kind);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, (guint) type->size);
        g_autofree void *merged = g_malloc(type->size);

        for (size_t i = 0; i < new->n; i++) {
                const void *row = ald_rows_at(new, i);
                const char *id = *(const char *const *) row;

                merge_row(result, type, old ? ald_rows_find(old, id) : NULL, row, merged);
                g_array_append_vals(rows, merged, 1);
        }
        for (size_t i = 0; old && i < old->n; i++) {
                const void *row = ald_rows_at(old, i);

                if (!ald_rows_find(new, *(const char *const *) row))
                        g_array_append_vals(rows, row, 1);
        }
        return make_record(result->kind, rows, reported->updated_usec, ret);
}

/* An attempt in the future counts as one at an unknown time. */
static bool is_old(uint64_t usec, uint64_t ttl_usec, uint64_t now)
{
        return usec == ALD_ABSENT_UINT64 || usec > now || now - usec >= ttl_usec;
}

AldRecord *ald_row_result_prune(const AldRowResult *result, AldRecord *record, const AldRows *existing,
        uint64_t ttl_usec, uint64_t now_realtime)
{
        const AldStruct *type = type_of(result->kind);
        const AldRows *old = rows_of(record);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, (guint) type->size);
        AldRecord *pruned = NULL;

        for (size_t i = 0; i < old->n; i++) {
                const void *row = ald_rows_at(old, i);
                const AldResultRow read = ald_result_row_read(type, row);

                if ((existing && ald_rows_find(existing, read.id)) ||
                        !is_old(read.measured_usec, ttl_usec, now_realtime) ||
                        !is_old(read.failed_usec, ttl_usec, now_realtime))
                        g_array_append_vals(rows, row, 1);
        }
        /* A subset of a record that fits also fits. */
        return rows->len < old->n && make_record(result->kind, rows, record->updated_usec, &pruned) >= 0
                       ? pruned
                       : NULL;
}
