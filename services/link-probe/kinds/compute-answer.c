/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/message.h"
#include "services/link-probe/kinds/compute-answer.h"
#include "services/link-probe/probe/probe-child.h"
#include "state/results/row-result.h"

#define FAILURE_MAX 256u /* bytes of a failure after which no further errors are appended */

unsigned ald_compute_metric_parse(const char *name)
{
        int metric = ald_compute_error_metric_from_string(name);

        return metric < 0 ? 0 : 1u << metric;
}

char *ald_compute_metrics_format(unsigned metrics)
{
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; i < ALD_COMPUTE_METRICS; i++)
                if (metrics & 1u << i)
                        g_string_append_printf(text, "%s%s", text->len > 0 ? "," : "",
                                ald_compute_error_metric_to_string((AldComputeErrorMetric) i));
        return g_string_free(text, FALSE);
}

static unsigned applicable_metrics(bool host_memory)
{
        return host_memory ? ALD_COMPUTE_ALL & ~(ALD_COMPUTE_TO_DEVICE | ALD_COMPUTE_TO_HOST)
                           : ALD_COMPUTE_ALL;
}

AldProbeTarget ald_compute_target(
        const AldProbeKind *kind, const AldBackend *backend, unsigned metrics, bool force)
{
        bool host_memory = backend->unified == true;

        return (AldProbeTarget){
                .kind = kind,
                .device = g_strdup(backend->id),
                .driver_version = g_strdup(backend->driver_version),
                .metrics = metrics,
                .host_memory = host_memory,
                .partial = (metrics & applicable_metrics(host_memory)) != applicable_metrics(host_memory),
                .force = force,
        };
}

unsigned ald_compute_target_metrics(const AldProbeTarget *target)
{
        return target->metrics == ALD_COMPUTE_ALL ? applicable_metrics(target->host_memory) : target->metrics;
}

static const AldComputeResult *result_of(const AldProbeAnswer *answer)
{
        return ald_record_as(answer->result, COMPUTE_RESULT, AldComputeResult);
}

static const AldComputeError *find_error(const AldComputeResult *result, const char *metric)
{
        for (size_t i = 0; i < result->errors.n; i++) {
                const AldComputeError *error = ald_rows_at(&result->errors, i);

                if (g_str_equal(error->metric, metric))
                        return error;
        }
        return NULL;
}

/* Returns whether a metric failed because of other work. */
static bool met_other_work(const AldComputeResult *result)
{
        for (size_t i = 0; i < result->errors.n; i++) {
                const AldComputeError *error = ald_rows_at(&result->errors, i);

                if (g_str_equal(error->error, "busy"))
                        return true;
        }
        return false;
}

/* Describes the errors of the metrics, in the order of the metrics: "gemm: it crashed"; NULL if there are
 * none. */
static char *describe_errors(const AldComputeResult *result)
{
        GString *words = g_string_new(NULL);

        for (AldComputeErrorMetric i = 0; i < ALD_COMPUTE_ERROR_METRIC_N; i++) {
                const char *metric = ald_compute_error_metric_to_string(i);
                const AldComputeError *error = find_error(result, metric);

                if (error && words->len < FAILURE_MAX)
                        g_string_append_printf(words, "%s%s: %s", words->len > 0 ? "; " : "", metric,
                                error->message ?: error->error);
        }
        return g_string_free(words, words->len == 0);
}

static bool has_figures(const AldComputeFigures *row)
{
        return !isnan(row->gemm_tflops) || !isnan(row->peak_tflops) ||
               row->memory_bandwidth_bytes_per_second != ALD_ABSENT_UINT64 ||
               row->copy_bandwidth_bytes_per_second != ALD_ABSENT_UINT64 ||
               row->host_to_device_bytes_per_second != ALD_ABSENT_UINT64 ||
               row->device_to_host_bytes_per_second != ALD_ABSENT_UINT64;
}

static void set_failure(AldProbeAnswer *answer, const char *reason)
{
        answer->verdict = ALD_PROBE_FAILED;
        answer->reason = g_strdup(reason);
        g_clear_pointer(&answer->result, ald_record_unref);
}

/* Returns the errors of the metrics as errors of `device`; `owned` frees their strings. */
static GArray *rename_errors(const AldComputeResult *result, const char *device, GPtrArray *owned)
{
        GArray *errors = g_array_new(FALSE, FALSE, sizeof(AldComputeError));

        for (AldComputeErrorMetric i = 0; i < ALD_COMPUTE_ERROR_METRIC_N; i++) {
                const char *metric = ald_compute_error_metric_to_string(i);
                const AldComputeError *found = find_error(result, metric);
                AldComputeError error;

                if (!found)
                        continue;
                error = *found;
                error.id = g_strdup_printf("%s %s", device, metric);
                error.device = device;
                g_ptr_array_add(owned, (gpointer) error.id);
                g_array_append_val(errors, error);
        }
        return errors;
}

/* Replaces the Id of the device by the requested one: for a MIG instance, OpenCL shows that of the whole
 * card. */
static void name_device(AldProbeAnswer *answer, const char *device)
{
        AldComputeResult result = *result_of(answer);
        AldComputeFigures row = *(const AldComputeFigures *) ald_rows_at(&result.devices, 0);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) errors = rename_errors(&result, device, owned);
        AldRecord *named;

        row.id = device;
        result.devices.items = &row;
        result.devices.n = 1;
        result.errors.items = errors->data;
        result.errors.n = errors->len;
        if (ald_record_new(ALD_KIND_COMPUTE_RESULT, &result, &named) < 0) {
                set_failure(answer, "the probe returned no figures");
                return;
        }
        ald_record_unref(answer->result);
        answer->result = named;
}

static void validate_result(AldProbeAnswer *answer, const char *device, bool force)
{
        const AldComputeResult *result = result_of(answer);
        const AldComputeFigures *row = result->devices.n > 0 ? ald_rows_at(&result->devices, 0) : NULL;
        bool was_busy = row && row->flags && g_strv_contains(row->flags, "busy");
        bool has_any = row && has_figures(row);
        g_autofree char *failed = describe_errors(result);

        /* A forced probe keeps what it has measured beside other work. */
        answer->other_work = force ? !has_any && met_other_work(result) : was_busy || met_other_work(result);
        if (answer->other_work)
                set_failure(answer, "busy: other work was running");
        else if (!has_any)
                set_failure(answer, failed ?: "the probe returned no figures");
        else
                name_device(answer, device);
}

void ald_compute_answer_read(
        const char *output, const char *failure, const char *device, bool force, AldProbeAnswer *ret)
{
        ald_probe_answer_read(ALD_KIND_COMPUTE_RESULT, output, failure, ret);
        if (ret->verdict == ALD_PROBE_DONE)
                validate_result(ret, device, force);
}

int ald_compute_answer_record(
        const AldProbeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec, AldRecord **ret)
{
        const AldComputeResult *result = result_of(answer);
        g_autofree char *failed = describe_errors(result);
        g_autoptr(GPtrArray) flags = NULL;
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;
        AldCompute compute = ALD_COMPUTE_INIT;

        ald_struct_copy_common(&ald_compute_device_struct, &row, &ald_compute_figures_struct,
                ald_rows_at(&result->devices, 0));
        if (target->despite_work) {
                flags = ald_row_flags_with_busy(row.flags);
                row.flags = (const char *const *) flags->pdata;
        }
        row.driver_version = target->driver_version;
        row.measured_usec = realtime_usec;
        row.failure = failed;
        if (failed)
                row.failed_usec = realtime_usec;
        compute.devices.items = &row;
        compute.devices.n = 1;
        return ald_record_new(ALD_KIND_COMPUTE, &compute, ret);
}

/* The share of the time of a metric in which each phase begins and ends. */
static const struct {
        const char *name;
        double from, to;
} phases[] = { { "build", 0, 0.1 }, { "trial", 0.1, 0.3 }, { "settle", 0.3, 0.5 }, { "measure", 0.5, 1 } };

static double share_of_metric(const char *phase, double fraction)
{
        for (size_t i = 0; i < G_N_ELEMENTS(phases); i++)
                if (g_str_equal(phase, phases[i].name))
                        return phases[i].from + fraction * (phases[i].to - phases[i].from);
        return 0;
}

int ald_compute_progress_read(const char *line, unsigned metrics, char **ret_phase, double *ret_fraction)
{
        g_autoptr(AldRecord) record = NULL;
        const AldProbeProgress *progress;
        unsigned bit;
        int r;

        r = ald_message_parse(ALD_KIND_PROBE_PROGRESS, line, strlen(line), ALD_PROBE_LINE_MAX, &record, NULL);
        if (r < 0)
                return r;
        progress = ald_record_as(record, PROBE_PROGRESS, AldProbeProgress);
        bit = ald_compute_metric_parse(progress->metric);
        if (!(bit & metrics) || !progress->phase)
                return -EBADMSG;
        *ret_phase = g_strdup_printf("%s %s", progress->metric, progress->phase);
        *ret_fraction = (__builtin_popcount(metrics & (bit - 1)) +
                                share_of_metric(progress->phase, progress->fraction)) /
                        __builtin_popcount(metrics);
        return 0;
}
