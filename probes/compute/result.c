/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/result.h"
#include "record/message.h"

#define TERA 1e12
#define PERCENT 100.0

struct AldComputeReport {
        GArray *devices;    /* of AldComputeFigures */
        GArray *errors;     /* of AldComputeError */
        GPtrArray *answers; /* whose texts the rows borrow */
        GPtrArray *lists;   /* of texts, in the rows */
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

/* A rate of bytes is a whole number; one that no field holds is absent. */
static uint64_t to_bytes(double rate)
{
        return rate >= 1 && rate <= (double) ALD_INTEGER_MAX ? (uint64_t) rate : ALD_ABSENT_UINT64;
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
        row->peak_method = measure->method;
}

static void add_read(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->memory_bandwidth_bytes_per_second = to_bytes(measure->best);
        row->memory_bandwidth_median_bytes_per_second = to_bytes(measure->median);
        row->memory_bandwidth_interval = measure->interval * PERCENT;
        row->memory_bandwidth_method = measure->method;
}

static void add_copy(AldComputeFigures *row, const AldComputeMeasure *measure)
{
        row->copy_bandwidth_bytes_per_second = to_bytes(measure->best);
        row->copy_bandwidth_median_bytes_per_second = to_bytes(measure->median);
        row->copy_bandwidth_interval = measure->interval * PERCENT;
        row->copy_bandwidth_method = measure->method;
}

static const char *const *end_list(AldComputeReport *report, GPtrArray *list)
{
        g_ptr_array_add(list, NULL);
        g_ptr_array_add(report->lists, list->pdata);
        return (const char *const *) g_ptr_array_free(list, FALSE);
}

/* Flags are those of all metrics; the clock is that of the matrix product, else of another. */
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
                for (size_t i = 0; measure && measure->throttle_reasons && measure->throttle_reasons[i]; i++)
                        g_ptr_array_add(reasons, (char *) measure->throttle_reasons[i]);
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
