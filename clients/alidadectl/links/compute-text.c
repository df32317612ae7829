/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/describe.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/links/compute-text.h"
#include "clients/alidadectl/text.h"

#define LABEL_WIDTH 10

/* Takes the part; leaves out what is absent. */
static void add(GString *list, const char *before, char *part, const char *after)
{
        g_autofree char *text = part;

        if (text && *text && strcmp(text, ALD_ABSENT_TEXT) != 0)
                g_string_append_printf(list, "%s%s%s%s", list->len > 0 ? ", " : "", before, text, after);
}

static char *safe_field(const json_t *row, const char *name)
{
        const char *text = ald_field_text(row, name);

        return text ? ald_text_safe(text) : NULL;
}

/* "165 TFLOPS FP16" */
static char *format_product(const json_t *row, const char *figure, const char *precision)
{
        g_autofree char *tflops = ald_format_tflops(ald_field_number(row, figure));
        g_autofree char *type = safe_field(row, precision), *upper = type ? g_utf8_strup(type, -1) : NULL;

        if (strcmp(tflops, ALD_ABSENT_TEXT) == 0)
                return NULL;
        return upper ? g_strdup_printf("%s %s", tflops, upper) : g_steal_pointer(&tflops);
}

static char *format_rate(const json_t *row, const char *name)
{
        return ald_format_bytes_per_second(ald_field_number(row, name));
}

static char *format_interval(const json_t *row, const char *name)
{
        double percent = ald_field_number(row, name);

        return percent >= 0 ? g_strdup_printf("±%.1f %%", percent) : NULL;
}

static char *describe_list(const json_t *row, const char *name)
{
        return ald_format_field(name, json_object_get(row, name), NAN);
}

char *ald_compute_glance(const json_t *row)
{
        double fp16 = ald_field_number(row, "TflopsFp16");
        GString *text = g_string_new(NULL);

        if (isnan(fp16))
                add(text, "", format_product(row, "GemmTflops", "Precision"), "");
        else
                add(text, "", ald_format_tflops(fp16), " FP16");
        add(text, "", format_rate(row, "MemoryBandwidthBytesPerSecond"), " memory bandwidth");
        if (ald_field_array(row, "Flags"))
                add(text, "", describe_list(row, "Flags"), "");
        return g_string_free(text, FALSE);
}

static char *describe_gemm(const json_t *row)
{
        GString *text = g_string_new(NULL);

        add(text, "", format_product(row, "GemmTflops", "Precision"), "");
        add(text, "sums in ", safe_field(row, "Accumulator"), "");
        add(text, "median ", ald_format_tflops(ald_field_number(row, "GemmMedianTflops")), "");
        add(text, "", format_interval(row, "GemmInterval"), "");
        add(text, "by ", safe_field(row, "Method"), "");
        return g_string_free(text, FALSE);
}

static char *describe_rate(const json_t *row, const char *metric)
{
        g_autofree char *rate = g_strdup_printf("%sBytesPerSecond", metric);
        g_autofree char *median = g_strdup_printf("%sMedianBytesPerSecond", metric);
        g_autofree char *interval = g_strdup_printf("%sInterval", metric);
        GString *text = g_string_new(NULL);

        add(text, "", format_rate(row, rate), "");
        add(text, "median ", format_rate(row, median), "");
        add(text, "", format_interval(row, interval), "");
        return g_string_free(text, FALSE);
}

static char *describe_device(const json_t *row)
{
        GString *text = g_string_new(NULL);

        add(text, "", safe_field(row, "Id"), "");
        add(text, "", safe_field(row, "Name"), "");
        return g_string_free(text, FALSE);
}

/* Takes the text; an entry that says nothing is none. */
static void entry(GString *out, const char *label, unsigned columns, char *text)
{
        if (text && *text && strcmp(text, ALD_ABSENT_TEXT) != 0)
                ald_describe_entry(out, label, LABEL_WIDTH, columns, text);
        else
                g_free(text);
}

static bool is_error_of(const json_t *error, const char *device, const char *metric)
{
        return g_strcmp0(ald_field_text(error, "Device"), device) == 0 &&
               g_strcmp0(ald_field_text(error, "Metric"), metric) == 0;
}

/* "gemm: the driver crashed; read: timeout": in the order in which the probe measures. */
static char *describe_errors(const json_t *errors, const char *device)
{
        static const char *const metrics[] = { "gemm", "read", "copy", "peak" };
        GString *text = g_string_new(NULL);
        const json_t *error;
        size_t i;

        for (size_t metric = 0; metric < G_N_ELEMENTS(metrics); metric++)
                json_array_foreach(errors, i, error) {
                        g_autofree char *message = safe_field(error, "message");
                        g_autofree char *name = safe_field(error, "error");

                        if (is_error_of(error, device, metrics[metric]) && (message || name))
                                g_string_append_printf(text, "%s%s: %s", text->len > 0 ? "; " : "",
                                        metrics[metric], message ?: name);
                }
        return g_string_free(text, FALSE);
}

void ald_compute_describe(GString *out, const json_t *row, const json_t *errors, unsigned columns)
{
        entry(out, "Device", columns, describe_device(row));
        entry(out, "Matrices", columns, describe_gemm(row));
        entry(out, "Reads", columns, describe_rate(row, "MemoryBandwidth"));
        entry(out, "Copies", columns, describe_rate(row, "CopyBandwidth"));
        entry(out, "Registers", columns, format_product(row, "PeakTflops", "PeakPrecision"));
        entry(out, "Clock", columns, ald_format_hertz(ald_field_number(row, "ClockHz")));
        if (ald_field_array(row, "ThrottleReasons"))
                entry(out, "Throttled", columns, describe_list(row, "ThrottleReasons"));
        if (ald_field_array(row, "Flags"))
                entry(out, "Flags", columns, describe_list(row, "Flags"));
        entry(out, "Failed", columns, describe_errors(errors, ald_field_text(row, "Id")));
}
