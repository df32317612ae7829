/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/result.h"

static char *scale(double value, const char *const *units, size_t n)
{
        size_t unit = 0;

        for (; value >= 999.5 && unit + 1 < n; unit++)
                value /= 1000;
        return g_strdup_printf(value < 100 ? "%.3g %s" : "%.0f %s", value, units[unit]);
}

static char *rate_text(AldMetric metric, double value)
{
        static const char *const flops[] = { "FLOPS", "kFLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS" };
        static const char *const bytes[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s" };

        return metric == ALD_METRIC_GEMM || metric == ALD_METRIC_PEAK
                       ? scale(value, flops, G_N_ELEMENTS(flops))
                       : scale(value, bytes, G_N_ELEMENTS(bytes));
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

        g_string_append_printf(text, "%s ±%.1f %% (median %s)", best, measure->interval * 100, median);
        if (measure->precision && measure->accumulator)
                g_string_append_printf(text, ", %s into %s", measure->precision, measure->accumulator);
        g_string_append_printf(text, ", by %s", measure->method);
        add_flags(text, flags);
        g_string_append_c(text, '\n');
}

/* What the flags of any metric mean to the user. */
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

static char *memory_text(uint64_t bytes)
{
        return bytes != ALD_ABSENT_UINT64 ? g_strdup_printf("%.1f GiB", (double) bytes / 0x1p30)
                                          : g_strdup("");
}

/* printf() pads by bytes. */
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
                g_autofree char *memory = memory_text(device->listed.memory_total_bytes);

                g_string_append_printf(text, "%-*s  %-11s  %-*s  %10s  %s\n", padded(device->listed.id, id),
                        device->listed.id, ald_listed_device_type_to_string(device->type),
                        padded(device->listed.name, name), device->listed.name, memory,
                        device->listed.platform);
        }
        return g_string_free(text, FALSE);
}
