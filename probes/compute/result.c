/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/result.h"
#include "probes/compute/device-json.h"
#include "probes/compute/measure-json.h"

#define TERA 1e12
#define PERCENT 100.0

static void set_real(json_t *object, const char *key, double value)
{
        json_object_set_new(object, key, json_real(value));
}

static void set_text(json_t *object, const char *key, const char *text)
{
        if (text && *text)
                json_object_set_new(object, key, json_string(text));
}

static void set_bytes(json_t *object, const char *key, double value)
{
        if (value >= 1 && value < 0x1p63)
                json_object_set_new(object, key, json_integer((json_int_t) value));
}

/* Those between blanks. */
static void add_words(json_t *list, const char *text)
{
        g_auto(GStrv) words = g_strsplit(text, " ", -1);

        for (char **word = words; *word; word++)
                if (**word)
                        json_array_append_new(list, json_string(*word));
}

static void add_refused(json_t *object, const AldMeasure *measure)
{
        json_t *refused = json_array();

        add_words(refused, measure->refused);
        if (json_array_size(refused) > 0)
                json_object_set(object, "RefusedMethods", refused);
        json_decref(refused);
}

static void add_gemm(json_t *object, const AldMeasure *measure)
{
        set_real(object, "GemmTflops", measure->meter.best / TERA);
        set_real(object, "GemmMedianTflops", measure->meter.median / TERA);
        set_real(object, "GemmInterval", measure->meter.interval * PERCENT);
        set_text(object, "Precision", measure->precision);
        set_text(object, "Accumulator", measure->accumulator);
        set_text(object, "Method", measure->method);
        if (measure->fp16_hardware)
                set_real(object, "TflopsFp16", measure->meter.best / TERA);
        add_refused(object, measure);
}

static void add_peak(json_t *object, const AldMeasure *measure)
{
        set_real(object, "PeakTflops", measure->meter.best / TERA);
        set_real(object, "PeakMedianTflops", measure->meter.median / TERA);
        set_real(object, "PeakInterval", measure->meter.interval * PERCENT);
        set_text(object, "PeakPrecision", measure->precision);
        set_text(object, "PeakMethod", measure->method);
}

static void add_read(json_t *object, const AldMeasure *measure)
{
        set_bytes(object, "MemoryBandwidthBytesPerSecond", measure->meter.best);
        set_bytes(object, "MemoryBandwidthMedianBytesPerSecond", measure->meter.median);
        set_real(object, "MemoryBandwidthInterval", measure->meter.interval * PERCENT);
        set_text(object, "MemoryBandwidthMethod", measure->method);
}

static void add_copy(json_t *object, const AldMeasure *measure)
{
        set_bytes(object, "CopyBandwidthBytesPerSecond", measure->meter.best);
        set_bytes(object, "CopyBandwidthMedianBytesPerSecond", measure->meter.median);
        set_real(object, "CopyBandwidthInterval", measure->meter.interval * PERCENT);
        set_text(object, "CopyBandwidthMethod", measure->method);
}

static void add_metrics(json_t *object, const AldFigures *figures)
{
        static void (*const adders[])(json_t * object, const AldMeasure *measure) = {
                [ALD_METRIC_GEMM] = add_gemm,
                [ALD_METRIC_READ] = add_read,
                [ALD_METRIC_COPY] = add_copy,
                [ALD_METRIC_PEAK] = add_peak,
        };

        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++)
                if (figures->known[metric])
                        adders[metric](object, &figures->answers[metric].measure);
}

/* Flags are those of all metrics; the clock is that of the matrix product, else of another. */
static void add_circumstances(json_t *object, const AldFigures *figures)
{
        json_t *reasons = json_array();
        unsigned flags = 0;

        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                const AldMeter *meter = &figures->answers[metric].measure.meter;

                if (!figures->known[metric])
                        continue;
                flags |= meter->flags;
                if (meter->clock_hz > 0 && !json_object_get(object, "ClockHz"))
                        json_object_set_new(object, "ClockHz", json_integer((json_int_t) meter->clock_hz));
                add_words(reasons, meter->throttle);
        }
        if (json_array_size(reasons) > 0)
                json_object_set(object, "ThrottleReasons", reasons);
        json_decref(reasons);
        json_object_set_new(object, "Flags", ald_flags_to_json(flags));
}

static void add_failures(json_t *object, const AldFigures *figures)
{
        json_t *errors = json_object();

        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                const AldFailure *failure = &figures->failures[metric];

                if (failure->message)
                        json_object_set_new(errors, ald_metric_to_string(metric),
                                json_pack("{s:s, s:s}", "error", ald_failure_to_string(failure->kind),
                                        "message", failure->message));
        }
        if (json_object_size(errors) > 0)
                json_object_set(object, "Errors", errors);
        json_decref(errors);
}

json_t *ald_compute_to_json(const AldDevice *device, const AldFigures *figures)
{
        json_t *object = json_object();

        ald_device_name(device, object);
        add_metrics(object, figures);
        add_circumstances(object, figures);
        json_object_set_new(object, "MeasuredUSec", json_integer((json_int_t) figures->measured));
        add_failures(object, figures);
        return object;
}
