/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "probes/common/series.h"
#include "probes/storage/storage-report.h"
#include "record/figure-text.h"
#include "record/message.h"

#define PERCENT 100.0

struct AldStorageReport {
        GArray *file_systems; /* of AldStorageFigures */
        GArray *errors;       /* of AldStorageError */
        GPtrArray *lists;     /* lists of texts that rows point to */
        GStringChunk *texts;
};

AldStorageReport *ald_storage_report_new(void)
{
        AldStorageReport *report = g_new(AldStorageReport, 1);

        report->file_systems = g_array_new(FALSE, FALSE, sizeof(AldStorageFigures));
        report->errors = g_array_new(FALSE, FALSE, sizeof(AldStorageError));
        report->lists = g_ptr_array_new_with_free_func(g_free);
        report->texts = g_string_chunk_new(1024);
        return report;
}

void ald_storage_report_free(AldStorageReport *report)
{
        if (!report)
                return;
        g_array_unref(report->file_systems);
        g_array_unref(report->errors);
        g_ptr_array_unref(report->lists);
        g_string_chunk_free(report->texts);
        g_free(report);
}

static void add_error(AldStorageReport *report, const char *id, const char *error, const char *message)
{
        g_autofree char *text = ald_message_text(message), *name = ald_message_text(id);
        AldStorageError row = ALD_STORAGE_ERROR_INIT;

        row.id = g_string_chunk_insert_const(report->texts, name);
        row.error = error;
        row.message = g_string_chunk_insert(report->texts, text);
        g_array_append_val(report->errors, row);
}

void ald_storage_report_add_problem(AldStorageReport *report, const AldStorageProblem *problem)
{
        add_error(report, problem->path, ald_storage_obstacle_to_string(problem->obstacle), problem->reason);
}

static void add_figures(AldStorageFigures *row, const AldStorageMeasure *measure, uint64_t now_realtime)
{
        static const char *const words[][3] = { { NULL }, { "busy", NULL }, { "unstable", NULL },
                { "busy", "unstable", NULL } };
        bool unstable = measure->interval * PERCENT > ALD_STORAGE_UNSTABLE_PERCENT;

        row->read_bytes_per_second = ald_series_bytes(measure->rate);
        row->read_median_bytes_per_second = ald_series_bytes(measure->median);
        row->read_interval = measure->interval * PERCENT;
        row->read_spread = measure->spread * PERCENT;
        row->read_bytes = measure->bytes;
        row->block_bytes = ALD_STORAGE_BLOCK;
        row->queue_depth = ALD_STORAGE_DEPTH;
        row->flags = words[(measure->busy ? 1 : 0) + (unstable ? 2 : 0)];
        row->measured_usec = now_realtime;
}

static const char *const *new_list_of_one(AldStorageReport *report, const char *text)
{
        const char **list = g_new0(const char *, 2);

        list[0] = text;
        g_ptr_array_add(report->lists, list);
        return list;
}

void ald_storage_report_add(AldStorageReport *report, const AldModelFileSystem *found,
        const AldStorageMeasure *measure, const AldFailure *failure, uint64_t now_realtime)
{
        AldStorageFigures row = ALD_STORAGE_FIGURES_INIT;
        const AldMount *mount = found->mount;

        row.id = mount->point;
        row.file_system_type = mount->type;
        row.disks = mount->is_network ? new_list_of_one(report, mount->source)
                                      : (const char *const *) found->disks.names;
        row.network = mount->is_network ? true : ALD_ABSENT_BOOLEAN;
        row.rotational = found->disks.rotational;
        if (found->is_listed) {
                row.model_files = found->n_files;
                row.model_bytes = found->bytes;
        }
        if (measure)
                row.attempt_bytes = measure->attempt_bytes;
        if (measure && !failure)
                add_figures(&row, measure, now_realtime);
        g_array_append_val(report->file_systems, row);
        if (failure)
                add_error(report, mount->point, ald_failure_name(failure), failure->message);
        else if (found->obstacle != ALD_STORAGE_READABLE)
                add_error(
                        report, mount->point, ald_storage_obstacle_to_string(found->obstacle), found->reason);
}

char *ald_storage_report_to_json(const AldStorageReport *report)
{
        AldStorageResult result = ALD_STORAGE_RESULT_INIT;

        result.file_systems.items = report->file_systems->data;
        result.file_systems.n = report->file_systems->len;
        result.errors.items = report->errors->data;
        result.errors.n = report->errors->len;
        return ald_message_format(ALD_KIND_STORAGE_RESULT, &result);
}

static void add_place(GString *text, const AldStorageFigures *row)
{
        g_autofree char *disks = row->disks ? g_strjoinv(", ", (char **) row->disks) : NULL;
        g_autofree char *bytes = NULL;

        g_string_append_printf(text, "%s  %s", row->id, row->file_system_type);
        if (disks)
                g_string_append_printf(text, " on %s", disks);
        if (row->model_files != ALD_ABSENT_UINT64) {
                bytes = ald_format_figure(&ald_unit_bytes, (double) row->model_bytes);
                g_string_append_printf(text, ", %" G_GUINT64_FORMAT " model%s of %s", row->model_files,
                        row->model_files == 1 ? "" : "s", bytes);
        }
        g_string_append_c(text, '\n');
}

static void add_rate(GString *text, const AldStorageFigures *row)
{
        g_autofree char *rate = ald_format_figure(
                &ald_unit_bytes_per_second, (double) row->read_bytes_per_second);
        g_autofree char *flags = row->flags ? g_strjoinv(", ", (char **) row->flags) : g_strdup("");

        g_string_append_printf(text, "  Read  %s", rate);
        if (row->read_median_bytes_per_second != ALD_ABSENT_UINT64) {
                g_autofree char *median = ald_format_figure(
                        &ald_unit_bytes_per_second, (double) row->read_median_bytes_per_second);
                g_autofree char *interval = ald_format_interval(row->read_interval);

                g_string_append_printf(
                        text, " %s (median %s), spread %.1f %%", interval, median, row->read_spread);
        }
        g_string_append_printf(text, "%s%s\n", *flags ? "; " : "", flags);
}

char *ald_storage_report_to_text(const AldStorageReport *report)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < report->file_systems->len; i++) {
                const AldStorageFigures *row = &g_array_index(report->file_systems, AldStorageFigures, i);

                add_place(text, row);
                if (row->read_bytes_per_second != ALD_ABSENT_UINT64)
                        add_rate(text, row);
        }
        for (guint i = 0; i < report->errors->len; i++) {
                const AldStorageError *error = &g_array_index(report->errors, AldStorageError, i);

                g_string_append_printf(text, "%s: %s: %s\n", error->id, error->error, error->message);
        }
        return g_string_free(text, FALSE);
}
