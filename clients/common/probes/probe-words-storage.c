/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/columns/storage-facts.h"
#include "clients/common/format.h"
#include "clients/common/probes/job-words.h"
#include "clients/common/probes/probe-words.h"
#include "clients/common/safe-text.h"
#include "record/json.h"
#include "record/translate.h"

/* The rows of a result: each file system with its figures, or why it has none, then errors about anything
 * else. The record owns the texts. */
typedef struct MeasuredStorage {
        AldRecord *record;
        GArray *rows; /* AldStorageFileSystem */
} MeasuredStorage;

static void measured_storage_clear(MeasuredStorage *measured)
{
        g_clear_pointer(&measured->record, ald_record_unref);
        g_clear_pointer(&measured->rows, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MeasuredStorage, measured_storage_clear)

static AldStorageFileSystem *find_row(GArray *rows, const char *id)
{
        for (guint i = 0; i < rows->len; i++) {
                AldStorageFileSystem *row = &g_array_index(rows, AldStorageFileSystem, i);

                if (g_strcmp0(row->id, id) == 0)
                        return row;
        }
        return NULL;
}

static void add_error(GArray *rows, const AldStorageError *error)
{
        AldStorageFileSystem *row = find_row(rows, error->id), added = ALD_STORAGE_FILE_SYSTEM_INIT;

        if (!row) {
                added.id = error->id;
                g_array_append_val(rows, added);
                row = find_row(rows, error->id);
        }
        if (!row->failure)
                row->failure = error->message ?: error->error;
}

static MeasuredStorage read_result(const AldProbeWords *words, json_t *job)
{
        MeasuredStorage measured = { .rows = g_array_new(FALSE, FALSE, sizeof(AldStorageFileSystem)) };
        json_t *json = json_object_get(job, "Result");
        const AldStorageResult *result;

        if (!json_is_object(json) || ald_record_from_json(words->result, json, &measured.record, NULL) < 0)
                return measured;
        result = ald_record_as(measured.record, STORAGE_RESULT, AldStorageResult);
        for (size_t i = 0; i < result->file_systems.n; i++) {
                AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;

                ald_struct_copy_common(&ald_storage_file_system_struct, &row, &ald_storage_figures_struct,
                        ald_rows_at(&result->file_systems, i));
                g_array_append_val(measured.rows, row);
        }
        for (size_t i = 0; i < result->errors.n; i++)
                add_error(measured.rows, ald_rows_at(&result->errors, i));
        return measured;
}

static GPtrArray *storage_facts(const AldProbeWords *words, const char *subject, json_t *job)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
        g_auto(MeasuredStorage) measured = read_result(words, job);

        for (guint i = 0; i < measured.rows->len; i++)
                g_ptr_array_add(
                        rows, ald_storage_facts(&g_array_index(measured.rows, AldStorageFileSystem, i)));
        return rows;
}

/* Returns "/srv/models (nvme0n1): 3.21 GB/s ±1 %, spread 4 %". */
static char *describe_row(const AldStorageFileSystem *row)
{
        g_autofree char *title = ald_storage_title(row), *glance = ald_storage_glance(row), *reason = NULL;

        if (*glance)
                return g_strdup_printf("%s: %s", title, glance);
        reason = ald_job_reason(row->failure);
        return g_strdup_printf(_("Cannot measure %s: %s"), title, reason);
}

static char *storage_outcome(const AldProbeWords *words, const char *subject, json_t *job)
{
        g_auto(MeasuredStorage) measured = read_result(words, job);
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < measured.rows->len; i++) {
                g_autofree char *row = describe_row(&g_array_index(measured.rows, AldStorageFileSystem, i));

                g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", row);
        }
        return g_string_free(text, text->len == 0);
}

static const char *const options[] = { "force", NULL };
static const char *const locks[] = { "storage", NULL };

const AldProbeWords ald_probe_words_storage = { .method = "ProbeStorage",
        .options = options,
        .locks = locks,
        .all = "the file systems with models",
        .title = N_("all file systems with models"),
        .result = ALD_KIND_STORAGE_RESULT,
        .facts = storage_facts,
        .outcome = storage_outcome };
