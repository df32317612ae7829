/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/row-result.h"

/* The rows of a record, and the fields that all such rows have. */
typedef struct RowFields {
        const AldField *rows;
        const AldStruct *type;
        const AldField *measured, *failed, *failure, *failures, *waiting_since, *waiting_reason;
} RowFields;

static RowFields fields_of(AldKind kind)
{
        const AldStruct *record = ald_kinds[kind].type;
        RowFields fields = { .rows = record->fields };

        while (fields.rows->type != ALD_TYPE_ROWS)
                fields.rows++;
        fields.type = fields.rows->rows;
        fields.measured = ald_struct_find(fields.type, "MeasuredUSec");
        fields.failed = ald_struct_find(fields.type, "FailedUSec");
        fields.failure = ald_struct_find(fields.type, "Failure");
        fields.failures = ald_struct_find(fields.type, "Failures");
        fields.waiting_since = ald_struct_find(fields.type, "WaitingSinceUSec");
        fields.waiting_reason = ald_struct_find(fields.type, "WaitingReason");
        return fields;
}

static const AldRows *rows_of(const RowFields *fields, const AldRecord *record)
{
        return record ? ald_record_field(record, fields->rows) : NULL;
}

static uint64_t number(const AldField *field, const void *row)
{
        return *(const uint64_t *) ald_field_of(field, row);
}

static void set_number(const AldField *field, void *row, uint64_t value)
{
        *(uint64_t *) ((char *) row + field->offset) = value;
}

bool ald_row_flags_are_busy(const char *const *flags)
{
        return flags && g_strv_contains(flags, "busy");
}

static bool is_failure(const RowFields *fields, const void *row)
{
        uint64_t failed = number(fields->failed, row), measured = number(fields->measured, row);

        return failed != ALD_ABSENT_UINT64 && (measured == ALD_ABSENT_UINT64 || failed >= measured);
}

static uint64_t failures_of(const RowFields *fields, const void *row)
{
        uint64_t failures = number(fields->failures, row);

        if (number(fields->failed, row) == ALD_ABSENT_UINT64)
                return 0;
        return failures == ALD_ABSENT_UINT64 ? 1 : MAX(failures, 1);
}

/* Counts one more, unless it is the same failure. */
static uint64_t count_failures(const RowFields *fields, const void *before, const void *reported)
{
        return number(fields->failed, before) == number(fields->failed, reported)
                       ? MAX(failures_of(fields, before), 1)
                       : failures_of(fields, before) + 1;
}

static bool is_worse(
        const AldRowResult *result, const RowFields *fields, const void *reported, const void *before)
{
        return number(fields->measured, reported) != ALD_ABSENT_UINT64 &&
               number(fields->measured, before) != ALD_ABSENT_UINT64 && result->is_worse(reported, before);
}

static void merge_failure(const AldRowResult *result, const RowFields *fields, const void *before,
        const void *reported, void *merged)
{
        if (number(fields->measured, reported) == ALD_ABSENT_UINT64)
                memcpy(merged, before, fields->type->size);
        else if (result->keep)
                result->keep(merged, before);
        ald_field_copy(fields->failure, merged, reported);
        ald_field_copy(fields->failed, merged, reported);
        set_number(fields->failures, merged, count_failures(fields, before, reported));
}

/* The row only waits. */
static bool is_no_attempt(const RowFields *fields, const void *row)
{
        return number(fields->measured, row) == ALD_ABSENT_UINT64 &&
               number(fields->failed, row) == ALD_ABSENT_UINT64;
}

static void merge_row(const AldRowResult *result, const RowFields *fields, const void *before,
        const void *reported, void *merged)
{
        memcpy(merged, reported, fields->type->size);
        if (before && (is_no_attempt(fields, reported) || is_worse(result, fields, reported, before)))
                memcpy(merged, before, fields->type->size);
        else if (before && is_failure(fields, reported))
                merge_failure(result, fields, before, reported, merged);
        else if (is_failure(fields, reported))
                set_number(fields->failures, merged, failures_of(fields, reported));
        /* The sender knows whether a measurement waits. */
        ald_field_copy(fields->waiting_since, merged, reported);
        ald_field_copy(fields->waiting_reason, merged, reported);
        if (result->settle)
                result->settle(merged, before, reported);
}

static int make(
        AldKind kind, const RowFields *fields, const GArray *rows, uint64_t updated_usec, AldRecord **ret)
{
        const AldStruct *type = ald_kinds[kind].type;
        g_autofree char *record = g_memdup2(type->absent, type->size);
        AldRows *list = (AldRows *) (void *) (record + fields->rows->offset);
        int r;

        list->items = rows->data;
        list->n = rows->len;
        r = ald_record_new(kind, record, ret);
        if (r >= 0)
                (*ret)->updated_usec = updated_usec;
        return r;
}

int ald_row_result_merge(const AldRowResult *result, AldRecord *before, AldRecord *reported, AldRecord **ret)
{
        const RowFields fields = fields_of(result->kind);
        const AldRows *old = rows_of(&fields, before), *new = rows_of(&fields, reported);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, (guint) fields.type->size);
        g_autofree void *merged = g_malloc(fields.type->size);

        for (size_t i = 0; i < new->n; i++) {
                const void *row = ald_rows_at(new, i);
                const char *id = *(const char *const *) row;

                merge_row(result, &fields, old ? ald_rows_find(old, id) : NULL, row, merged);
                g_array_append_vals(rows, merged, 1);
        }
        for (size_t i = 0; old && i < old->n; i++) {
                const void *row = ald_rows_at(old, i);

                if (!ald_rows_find(new, *(const char *const *) row))
                        g_array_append_vals(rows, row, 1);
        }
        return make(result->kind, &fields, rows, reported->updated_usec, ret);
}

/* The time of an attempt in the future is unknown. */
static bool is_old(uint64_t usec, uint64_t ttl_usec, uint64_t now)
{
        return usec == ALD_ABSENT_UINT64 || usec > now || now - usec >= ttl_usec;
}

AldRecord *ald_row_result_prune(const AldRowResult *result, AldRecord *record, const AldRows *existing,
        uint64_t ttl_usec, uint64_t now_realtime)
{
        const RowFields fields = fields_of(result->kind);
        const AldRows *old = rows_of(&fields, record);
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, (guint) fields.type->size);
        AldRecord *pruned = NULL;

        for (size_t i = 0; i < old->n; i++) {
                const void *row = ald_rows_at(old, i);

                if ((existing && ald_rows_find(existing, *(const char *const *) row)) ||
                        !is_old(number(fields.measured, row), ttl_usec, now_realtime) ||
                        !is_old(number(fields.failed, row), ttl_usec, now_realtime))
                        g_array_append_vals(rows, row, 1);
        }
        /* A subset of a record that fits also fits. */
        return rows->len < old->n && make(result->kind, &fields, rows, record->updated_usec, &pruned) >= 0
                       ? pruned
                       : NULL;
}
