/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/columns/node-facts.h"
#include "clients/common/format.h"
#include "clients/common/probes/job-words.h"
#include "clients/common/probes/probe-words.h"
#include "clients/common/safe-text.h"
#include "record/json.h"
#include "record/translate.h"

/* Returns NULL if the result cannot be read. */
static AldRecord *read_result(const AldProbeWords *words, json_t *job)
{
        json_t *result = json_object_get(job, "Result");
        AldRecord *record = NULL;

        if (json_is_object(result))
                (void) ald_record_from_json(words->result, result, &record, NULL);
        return record;
}

/* Returns "gemm: the driver crashed; read: timeout", in the order in which the probe measures. */
static char *describe_errors(const AldComputeResult *result, const char *device)
{
        GString *text = g_string_new(NULL);

        for (AldComputeErrorMetric metric = 0; metric < ALD_COMPUTE_ERROR_METRIC_N; metric++)
                for (size_t i = 0; i < result->errors.n; i++) {
                        const AldComputeError *error = ald_rows_at(&result->errors, i);

                        if (g_strcmp0(error->device, device) == 0 &&
                                g_strcmp0(error->metric, ald_compute_error_metric_to_string(metric)) == 0)
                                g_string_append_printf(text, "%s%s: %s", text->len > 0 ? "; " : "",
                                        error->metric, error->message ?: error->error);
                }
        return g_string_free(text, text->len == 0);
}

static AldComputeDevice device_of(const AldComputeFigures *figures)
{
        AldComputeDevice device = ALD_COMPUTE_DEVICE_INIT;

        ald_struct_copy_common(&ald_compute_device_struct, &device, &ald_compute_figures_struct, figures);
        return device;
}

static GPtrArray *device_facts(const AldProbeWords *words, const char *subject, json_t *job)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
        g_autoptr(AldRecord) record = read_result(words, job);
        const AldComputeResult *result = record ? ald_record_as(record, COMPUTE_RESULT, AldComputeResult)
                                                : NULL;

        for (size_t i = 0; result && i < result->devices.n; i++) {
                const AldComputeFigures *figures = ald_rows_at(&result->devices, i);
                g_autofree char *errors = describe_errors(result, figures->id);
                AldComputeDevice device = device_of(figures);

                device.failure = errors;
                g_ptr_array_add(rows, ald_compute_facts(&device, figures->name));
        }
        return rows;
}

static const char *error_of(const AldComputeResult *result, const char *device)
{
        for (size_t i = 0; i < result->errors.n; i++) {
                const AldComputeError *error = ald_rows_at(&result->errors, i);

                if (g_strcmp0(error->device, device) == 0)
                        return error->message ?: error->error;
        }
        return NULL;
}

/* Returns "cpu: 0.52 TFLOPS FP16, 21 GB/s memory bandwidth". */
static char *describe_figures(const AldComputeResult *result, const AldComputeFigures *figures)
{
        g_autofree char *name = ald_text_safe(figures->name ?: figures->id ?: ALD_ABSENT_TEXT);
        const AldComputeDevice device = device_of(figures);
        g_autofree char *glance = ald_compute_glance(&device), *reason = NULL;

        if (*glance)
                return g_strdup_printf("%s: %s", name, glance);
        reason = ald_job_reason(error_of(result, figures->id));
        return g_strdup_printf(_("Cannot measure %s: %s"), name, reason);
}

static char *device_outcome(const AldProbeWords *words, const char *subject, json_t *job)
{
        g_autoptr(AldRecord) record = read_result(words, job);
        const AldComputeResult *result = record ? ald_record_as(record, COMPUTE_RESULT, AldComputeResult)
                                                : NULL;
        GString *text = g_string_new(NULL);

        for (size_t i = 0; result && i < result->devices.n; i++) {
                g_autofree char *device = describe_figures(result, ald_rows_at(&result->devices, i));

                g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", device);
        }
        return g_string_free(text, text->len == 0);
}

static const char *const options[] = { "metric", "force", NULL };
static const char *const locks[] = { "compute", NULL };

const AldProbeWords ald_probe_words_compute = { .method = "ProbeCompute",
        .options = options,
        .locks = locks,
        .all = "the compute devices",
        .title = N_("all compute devices"),
        .result = ALD_KIND_COMPUTE_RESULT,
        .facts = device_facts,
        .outcome = device_outcome };
