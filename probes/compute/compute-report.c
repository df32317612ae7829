/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/common/series.h"
#include "probes/compute/compute-report.h"
#include "record/figure-text.h"
#include "record/message.h"

#define TERA 1e12
#define PERCENT 100.0

struct AldComputeReport {
        GArray *devices;    /* of AldComputeFigures */
        GArray *errors;     /* of AldComputeError */
        GPtrArray *answers; /* records whose texts the rows borrow */
        GPtrArray *lists;   /* lists of texts that rows point to */
        GStringChunk *texts;
};

AldComputeReport *ald_compute_report_new(void)
{
        AldComputeReport *report = g_new(AldComputeReport, 1);

        report->devices = g_array_new(FALSE, FALSE, sizeof(AldComputeFigures));
        report->errors = g_array_new(FALSE, FALSE, sizeof(AldComputeError));
        report->answers = g_ptr_array_new_with_free_func((GDestroyNotify) ald_record_unref);
        report->lists = g_ptr_array_new_with_free_func(g_free);
        report->texts = g_string_chunk_new(1024);
        return report;
}

void ald_compute_report_free(AldComputeReport *report)
{
        if (!report)
                return;
        g_array_unref(report->devices);
        g_array_unref(report->errors);
        g_ptr_array_unref(report->answers);
        g_ptr_array_unref(report->lists);
        g_string_chunk_free(report->texts);
        g_free(report);
}

static void add_gemm(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->gemm_tflops = measure->best / TERA;
        row->gemm_median_tflops = measure->median / TERA;
        row->gemm_interval = measure->interval * PERCENT;
        row->precision = measure->precision;
        row->accumulator = measure->accumulator;
        row->method = measure->method;
        row->refused_methods = measure->refused_methods;
        if (measure->fp16_hardware == true)
                row->tflops_fp16 = row->gemm_tflops;
}

static void add_peak(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->peak_tflops = measure->best / TERA;
        row->peak_median_tflops = measure->median / TERA;
        row->peak_interval = measure->interval * PERCENT;
        row->peak_precision = measure->precision;
        row->peak_accumulator = measure->accumulator;
        row->peak_method = measure->method;
}

static void add_read(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->memory_bandwidth_bytes_per_second = ald_series_bytes(measure->best);
        row->memory_bandwidth_median_bytes_per_second = ald_series_bytes(measure->median);
        row->memory_bandwidth_interval = measure->interval * PERCENT;
        row->memory_bandwidth_theoretical_bytes_per_second = ald_series_bytes(measure->theoretical);
        row->memory_bandwidth_method = measure->method;
}

static void add_copy(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->copy_bandwidth_bytes_per_second = ald_series_bytes(measure->best);
        row->copy_bandwidth_median_bytes_per_second = ald_series_bytes(measure->median);
        row->copy_bandwidth_interval = measure->interval * PERCENT;
        row->copy_bandwidth_method = measure->method;
}

static void add_to_device(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->host_to_device_bytes_per_second = ald_series_bytes(measure->best);
        row->host_to_device_median_bytes_per_second = ald_series_bytes(measure->median);
        row->host_to_device_interval = measure->interval * PERCENT;
}

static void add_to_host(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->device_to_host_bytes_per_second = ald_series_bytes(measure->best);
        row->device_to_host_median_bytes_per_second = ald_series_bytes(measure->median);
        row->device_to_host_interval = measure->interval * PERCENT;
}

static const char *const *end_list(AldComputeReport *report, GPtrArray *list)
{
        g_ptr_array_add(list, NULL);
        g_ptr_array_add(report->lists, list->pdata);
        return (const char *const *) g_ptr_array_free(list, FALSE);
}

static void add_once(GPtrArray *words, const char *word)
{
        if (!g_ptr_array_find_with_equal_func(words, word, g_str_equal, NULL))
                g_ptr_array_add(words, (char *) word);
}

/* Adds the flags and reasons of all metrics, and the clock and power limit of the first one that has them,
 * usually the matrix product. */
static void add_circumstances(AldComputeReport *report, AldComputeFigures *row, const AldFigures *figures)
{
        GPtrArray *reasons = g_ptr_array_new(), *words = g_ptr_array_new();
        const char *names[ALD_N_FLAGS + 1];
        unsigned flags = 0;

        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                const AldComputeMeasure *measure = ald_figures_of(figures, metric);

                flags |= ald_figures_flags(figures, metric);
                if (measure && row->clock_hz == ALD_ABSENT_UINT64)
                        row->clock_hz = measure->clock_hz;
                if (measure && row->power_limit_micro_watts == ALD_ABSENT_UINT64)
                        row->power_limit_micro_watts = measure->power_limit_micro_watts;
                for (size_t i = 0; measure && measure->throttle_reasons && measure->throttle_reasons[i]; i++)
                        add_once(reasons, measure->throttle_reasons[i]);
        }
        ald_flags_to_words(flags, names);
        for (size_t i = 0; names[i]; i++)
                g_ptr_array_add(words, (char *) names[i]);
        row->throttle_reasons = end_list(report, reasons);
        row->flags = end_list(report, words);
}

static void add_errors(AldComputeReport *report, const char *device, const AldFigures *figures)
{
        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                const AldFailure *failure = &figures->failures[metric];
                AldComputeError row = ALD_COMPUTE_ERROR_INIT;
                g_autofree char *id = NULL;

                if (!failure->message)
                        continue;
                row.device = device;
                row.metric = ald_metric_to_string(metric);
                id = g_strdup_printf("%s %s", device, row.metric);
                row.id = g_string_chunk_insert(report->texts, id);
                row.error = ald_failure_to_string(failure->kind);
                row.message = g_string_chunk_insert(report->texts, failure->message);
                g_array_append_val(report->errors, row);
        }
}

void ald_compute_report_add(
        AldComputeReport *report, const AldOpenclTarget *device, const AldFigures *figures)
{
        static void (*const adders[])(AldComputeFigures * row, const AldComputeMeasure *measure) = {
                [ALD_METRIC_GEMM] = add_gemm,
                [ALD_METRIC_READ] = add_read,
                [ALD_METRIC_COPY] = add_copy,
                [ALD_METRIC_PEAK] = add_peak,
                [ALD_METRIC_TO_DEVICE] = add_to_device,
                [ALD_METRIC_TO_HOST] = add_to_host,
        };
        AldComputeFigures row = ALD_COMPUTE_FIGURES_INIT;

        ald_struct_copy_common(&ald_compute_figures_struct, &row, &ald_listed_device_struct, &device->listed);
        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++)
                if (figures->answers[metric]) {
                        adders[metric](&row, ald_figures_of(figures, metric));
                        g_ptr_array_add(report->answers, ald_record_ref(figures->answers[metric]));
                }
        add_circumstances(report, &row, figures);
        row.measured_usec = figures->measured;
        g_array_append_val(report->devices, row);
        add_errors(report, device->listed.id, figures);
}

char *ald_compute_report_to_json(const AldComputeReport *report)
{
        AldComputeResult result = ALD_COMPUTE_RESULT_INIT;

        result.devices.items = report->devices->data;
        result.devices.n = report->devices->len;
        result.errors.items = report->errors->data;
        result.errors.n = report->errors->len;
        return ald_message_format(ALD_KIND_COMPUTE_RESULT, &result);
}

static char *rate_text(AldMetric metric, double value)
{
        return metric == ALD_METRIC_GEMM || metric == ALD_METRIC_PEAK
                       ? ald_format_figure(&ald_unit_teraflops, value / TERA)
                       : ald_format_figure(&ald_unit_bytes_per_second, value);
}

static void add_flags(GString *text, unsigned flags)
{
        const char *words[ALD_N_FLAGS + 1];

        ald_flags_to_words(flags, words);
        for (size_t i = 0; words[i]; i++)
                g_string_append_printf(text, "%s%s", i == 0 ? "; " : ", ", words[i]);
}

static void add_measure(GString *text, AldMetric metric, const AldComputeMeasure *measure, unsigned flags)
{
        g_autofree char *best = rate_text(metric, measure->best);
        g_autofree char *median = rate_text(metric, measure->median);
        g_autofree char *interval = ald_format_interval(measure->interval * PERCENT);

        g_string_append(text, best);
        if (isfinite(measure->interval))
                g_string_append_printf(text, " %s", interval);
        g_string_append_printf(text, " (median %s)", median);
        if (measure->precision && measure->accumulator)
                g_string_append_printf(text, ", %s into %s", measure->precision, measure->accumulator);
        g_string_append_printf(text, ", by %s", measure->method);
        add_flags(text, flags);
        g_string_append_c(text, '\n');
}

/* Adds what the flags mean to the user, if any metric has them. */
static void add_advice(GString *text, const AldFigures *figures)
{
        static const struct {
                AldFlags flag;
                const char *advice;
        } advices[] = {
                { ALD_FLAG_BUSY,
                        "busy: other work was running; the device can do more, measure again when idle" },
                { ALD_FLAG_UNSTABLE,
                        "unstable: the rate did not become steady; more --seconds-max may help" },
                { ALD_FLAG_SUSPECT, "suspect: more than the device can do; do not rely on it" },
                { ALD_FLAG_REDUCED, "reduced: there was too little memory for the usual size" },
                { ALD_FLAG_WALL_CLOCK,
                        "wall_clock: the times of the driver are wrong; the clock was used instead" },
        };
        unsigned flags = 0;

        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++)
                flags |= ald_figures_flags(figures, metric);
        for (size_t i = 0; i < G_N_ELEMENTS(advices); i++)
                if (flags & advices[i].flag)
                        g_string_append_printf(text, "  %s\n", advices[i].advice);
}

char *ald_compute_to_text(const AldOpenclTarget *device, const AldFigures *figures)
{
        static const char *const names[] = {
                [ALD_METRIC_GEMM] = "Matrix product",
                [ALD_METRIC_READ] = "Memory read",
                [ALD_METRIC_COPY] = "Memory copy",
                [ALD_METRIC_PEAK] = "Registers",
                [ALD_METRIC_TO_DEVICE] = "Host to device",
                [ALD_METRIC_TO_HOST] = "Device to host",
        };
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "%s  %s, %s %s\n", device->listed.id, device->listed.name,
                device->listed.platform, device->listed.driver_version);
        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                const AldFailure *failure = &figures->failures[metric];
                const AldComputeMeasure *known = ald_figures_of(figures, metric);

                if (!known && !failure->message)
                        continue;
                g_string_append_printf(text, "  %-16s", names[metric]);
                if (known)
                        add_measure(text, metric, known, ald_figures_flags(figures, metric));
                else
                        g_string_append_printf(
                                text, "%s: %s\n", ald_failure_to_string(failure->kind), failure->message);
        }
        add_advice(text, figures);
        return g_string_free(text, FALSE);
}

/* Returns the width for printf(), which pads by bytes, not by characters. */
static int padded(const char *text, int width)
{
        return width + (int) strlen(text) - (int) g_utf8_strlen(text, -1);
}

char *ald_compute_list_to_text(const GPtrArray *devices)
{
        GString *text = g_string_new(NULL);
        int id = 2, name = 4;

        for (guint i = 0; i < devices->len; i++) {
                const AldOpenclTarget *device = devices->pdata[i];

                id = MAX(id, (int) g_utf8_strlen(device->listed.id, -1));
                name = MAX(name, (int) g_utf8_strlen(device->listed.name, -1));
        }
        if (devices->len > 0)
                g_string_append_printf(text, "%-*s  %-11s  %-*s  %10s  %s\n", id, "ID", "TYPE", name, "NAME",
                        "MEMORY", "PLATFORM");
        for (guint i = 0; i < devices->len; i++) {
                const AldOpenclTarget *device = devices->pdata[i];
                uint64_t bytes = device->listed.memory_total_bytes;
                g_autofree char *memory = bytes != ALD_ABSENT_UINT64
                                                  ? ald_format_figure(&ald_unit_bytes, (double) bytes)
                                                  : g_strdup("");

                g_string_append_printf(text, "%-*s  %-11s  %-*s  %10s  %s\n", padded(device->listed.id, id),
                        device->listed.id, ald_listed_device_type_to_string(device->type),
                        padded(device->listed.name, name), device->listed.name, memory,
                        device->listed.platform);
        }
        return g_string_free(text, FALSE);
}
