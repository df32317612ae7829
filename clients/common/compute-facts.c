/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/compute-facts.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"

/* "165 TFLOPS FP16" */
static char *format_product(double tflops, const char *precision)
{
        g_autofree char *figure = ald_format_tflops(tflops);
        g_autofree char *safe = ald_text_safe_or_null(precision),
                        *upper = safe ? g_utf8_strup(safe, -1) : NULL;

        if (isnan(tflops))
                return NULL;
        return upper ? g_strdup_printf("%s %s", figure, upper) : g_steal_pointer(&figure);
}

static char *format_rate(uint64_t rate)
{
        return ald_format_bytes_per_second(ald_figure(rate));
}

static char *format_interval(double percent)
{
        return percent >= 0 ? g_strdup_printf("±%.1f %%", percent) : NULL;
}

char *ald_compute_glance(const AldComputeDevice *row)
{
        GString *text = g_string_new(NULL);

        if (isnan(row->tflops_fp16))
                ald_parts_add(text, "", format_product(row->gemm_tflops, row->precision), "");
        else
                ald_parts_add(text, "", ald_format_tflops(row->tflops_fp16), " FP16");
        ald_parts_add(text, "", format_rate(row->memory_bandwidth_bytes_per_second), " memory bandwidth");
        ald_parts_add(text, "", ald_format_list(row->flags), "");
        return g_string_free(text, FALSE);
}

static char *describe_gemm(const AldComputeDevice *row)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "", format_product(row->gemm_tflops, row->precision), "");
        ald_parts_add_text(text, "sums in ", row->accumulator, "");
        ald_parts_add(text, "median ", ald_format_tflops(row->gemm_median_tflops), "");
        ald_parts_add(text, "", format_interval(row->gemm_interval), "");
        ald_parts_add_text(text, "by ", row->method, "");
        return g_string_free(text, FALSE);
}

static char *describe_rate(uint64_t rate, uint64_t median, double interval)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "", format_rate(rate), "");
        ald_parts_add(text, "median ", format_rate(median), "");
        ald_parts_add(text, "", format_interval(interval), "");
        return g_string_free(text, FALSE);
}

static char *describe_device(const AldComputeDevice *row, const char *name)
{
        GString *text = g_string_new(NULL);

        ald_parts_add_text(text, "", row->id, "");
        ald_parts_add_text(text, "", name, "");
        return g_string_free(text, FALSE);
}

GPtrArray *ald_compute_facts(const AldComputeDevice *row, const char *name)
{
        GPtrArray *facts = ald_facts_new();

        ald_facts_add_known(facts, "Device", describe_device(row, name));
        ald_facts_add_known(facts, "Matrices", describe_gemm(row));
        ald_facts_add_known(facts, "Reads",
                describe_rate(row->memory_bandwidth_bytes_per_second,
                        row->memory_bandwidth_median_bytes_per_second, row->memory_bandwidth_interval));
        ald_facts_add_known(facts, "Copies",
                describe_rate(row->copy_bandwidth_bytes_per_second,
                        row->copy_bandwidth_median_bytes_per_second, row->copy_bandwidth_interval));
        ald_facts_add_known(facts, "Registers", format_product(row->peak_tflops, row->peak_precision));
        ald_facts_add_known(facts, "Clock", ald_format_hertz(ald_figure(row->clock_hz)));
        ald_facts_add_known(facts, "Throttled", ald_format_list(row->throttle_reasons));
        ald_facts_add_known(facts, "Flags", ald_format_list(row->flags));
        ald_facts_add_known(facts, "Failed", ald_text_safe_or_null(row->failure));
        return facts;
}
