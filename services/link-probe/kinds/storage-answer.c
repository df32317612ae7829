/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/message.h"
#include "services/link-probe/kinds/storage-answer.h"
#include "services/link-probe/probe/probe-child.h"
#include "state/results/row-result.h"

static const AldStorageResult *result_of(const AldProbeAnswer *answer)
{
        return ald_record_as(answer->result, STORAGE_RESULT, AldStorageResult);
}

/* Reduces the result to the row and the error of one file system; each may be NULL. */
static int keep_row(AldProbeAnswer *answer, const AldStorageFigures *row, const AldStorageError *error)
{
        AldStorageResult result = ALD_STORAGE_RESULT_INIT;
        AldRecord *kept;
        int r;

        result.file_systems.items = row;
        result.file_systems.n = row ? 1 : 0;
        result.errors.items = error;
        result.errors.n = error ? 1 : 0;
        r = ald_record_new(ALD_KIND_STORAGE_RESULT, &result, &kept);
        if (r < 0)
                return r;
        ald_record_unref(answer->result);
        answer->result = kept;
        return 0;
}

static void set_failure(AldProbeAnswer *answer, char *reason)
{
        answer->verdict = ALD_PROBE_FAILED;
        answer->reason = reason;
}

static void validate_result(AldProbeAnswer *answer, const char *file_system, bool force)
{
        const AldStorageResult *result = result_of(answer);
        const AldStorageFigures *row = ald_rows_find(&result->file_systems, file_system);
        const AldStorageError *error = ald_rows_find(&result->errors, file_system);
        bool measured = row && row->read_bytes_per_second != ALD_ABSENT_UINT64;
        bool was_busy = measured && row->flags && g_strv_contains(row->flags, "busy");

        answer->other_work = error ? g_str_equal(error->error, "busy") : was_busy && !force;
        if (error)
                set_failure(answer, g_strdup_printf("%s: %s", error->error, error->message ?: "no reason"));
        else if (answer->other_work)
                set_failure(answer, g_strdup("busy: other programs use its disks"));
        else if (!measured)
                set_failure(answer, g_strdup("the probe returned no figures"));
        if (keep_row(answer, row, error) >= 0)
                return;
        g_clear_pointer(&answer->result, ald_record_unref);
        if (answer->verdict == ALD_PROBE_DONE)
                set_failure(answer, g_strdup("the probe returned no figures"));
}

void ald_storage_answer_read(
        const char *output, const char *failure, const char *file_system, bool force, AldProbeAnswer *ret)
{
        ald_probe_answer_read(ALD_KIND_STORAGE_RESULT, output, failure, ret);
        if (ret->verdict == ALD_PROBE_DONE)
                validate_result(ret, file_system, force);
}

uint64_t ald_storage_answer_bytes(const AldProbeAnswer *answer)
{
        const AldStorageResult *result = answer->result ? result_of(answer) : NULL;
        const AldStorageFigures *row;

        /* A probe that reports why it did not begin has read nothing. */
        if (!result)
                return answer->word ? 0 : ALD_ABSENT_UINT64;
        row = result->file_systems.n > 0 ? ald_rows_at(&result->file_systems, 0) : NULL;
        return row && row->attempt_bytes != ALD_ABSENT_UINT64 ? row->attempt_bytes : 0;
}

int ald_storage_answer_record(
        const AldProbeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec, AldRecord **ret)
{
        g_autoptr(GPtrArray) flags = NULL;
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;
        AldStorage storage = ALD_STORAGE_INIT;

        ald_struct_copy_common(&ald_storage_file_system_struct, &row, &ald_storage_figures_struct,
                ald_rows_at(&result_of(answer)->file_systems, 0));
        if (target->despite_work) {
                flags = ald_row_flags_with_busy(row.flags);
                row.flags = (const char *const *) flags->pdata;
        }
        row.measured_usec = realtime_usec;
        row.attempted_usec = realtime_usec;
        storage.file_systems.items = &row;
        storage.file_systems.n = 1;
        return ald_record_new(ALD_KIND_STORAGE, &storage, ret);
}

int ald_storage_progress_read(const char *line, char **ret_phase, double *ret_fraction)
{
        g_autoptr(AldRecord) record = NULL;
        const AldProbeProgress *progress;
        int r;

        r = ald_message_parse(ALD_KIND_PROBE_PROGRESS, line, strlen(line), ALD_PROBE_LINE_MAX, &record, NULL);
        if (r < 0)
                return r;
        progress = ald_record_as(record, PROBE_PROGRESS, AldProbeProgress);
        if (!progress->phase)
                return -EBADMSG;
        *ret_phase = g_strdup(progress->phase);
        *ret_fraction = progress->fraction;
        return 0;
}
