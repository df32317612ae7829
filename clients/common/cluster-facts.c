/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clients/common/cluster-facts.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "state/compute-summary.h"

/* A count that is absent counts nothing. */
static uint64_t known_count(uint64_t n)
{
        return n == ALD_ABSENT_UINT64 ? 0 : n;
}

char *ald_cluster_counts(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        uint64_t left_out = known_count(totals->nodes_left_out);
        g_autofree char *nodes = ald_format_count(ald_figure(totals->nodes));
        g_autofree char *links = ald_format_count(ald_figure(totals->links)), *out = NULL;

        if (left_out > 0)
                out = g_strdup_printf(" (%" PRIu64 " not counted)", left_out);
        return g_strdup_printf("%s %s%s, %s %s", nodes, totals->nodes == 1 ? "node" : "nodes", out ?: "",
                links, totals->links == 1 ? "link" : "links");
}

/* " (1 failed, 2 never measured)"; reasons that this version does not know are left out. */
static void append_reasons(GString *text, const json_t *reasons)
{
        static const char *const words[ALD_LEFT_OUT_N] = {
                [ALD_LEFT_OUT_FAILED] = "failed",
                [ALD_LEFT_OUT_NEVER_MEASURED] = "never measured",
                [ALD_LEFT_OUT_NO_OPENCL] = "without OpenCL",
        };
        bool any = false;

        for (AldLeftOut reason = 0; reason < ALD_LEFT_OUT_N; reason++) {
                const json_t *value = json_object_get(reasons, ald_left_out_to_string(reason));
                json_int_t n = json_integer_value(value);

                if (n <= 0)
                        continue;
                g_string_append_printf(
                        text, "%s%" JSON_INTEGER_FORMAT " %s", any ? ", " : " (", n, words[reason]);
                any = true;
        }
        if (any)
                g_string_append_c(text, ')');
}

/* Takes the text of the figure; adds how many devices are missing from it, and why. The property with the
 * reasons is the one for which `reasons` stands. */
static char *add_left_out(AldModel *model, char *figure, uint64_t left_out, const char *reasons)
{
        g_autofree char *known = figure;
        GString *text = g_string_new(known);
        uint64_t n = known_count(left_out);

        if (n > 0) {
                g_string_append_printf(text, ", %" PRIu64 " %s left out", n, n == 1 ? "device" : "devices");
                append_reasons(text, json_object_get(ald_model_totals_json(model), reasons));
        }
        return g_string_free(text, FALSE);
}

char *ald_cluster_tflops(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);

        return add_left_out(model, ald_format_tflops(totals->tflops_fp16), totals->tflops_fp16_left_out,
                "TflopsFp16LeftOutReasons");
}

static const char *describe_devices(const char *of)
{
        return strcmp(of, "gpu") == 0    ? "GPUs and accelerators"
               : strcmp(of, "cpu") == 0  ? "processors"
               : strcmp(of, "both") == 0 ? "GPUs, accelerators and processors"
                                         : of;
}

char *ald_cluster_bandwidth(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        double rate = ald_figure(totals->memory_bandwidth_bytes_per_second);
        char *text = ald_format_bytes_per_second(rate);

        if (!isnan(rate) && totals->memory_bandwidth_of) {
                g_autofree char *known = text, *safe = ald_text_safe(totals->memory_bandwidth_of);

                text = g_strdup_printf("%s over %s", known, describe_devices(safe));
        }
        return add_left_out(model, text, totals->memory_bandwidth_left_out, "MemoryBandwidthLeftOutReasons");
}

/* "50 GiB free of 200 GiB", or the whole if it is not known what is free. */
static char *format_free(uint64_t available, uint64_t total)
{
        g_autofree char *part = ald_format_bytes(ald_figure(available));
        g_autofree char *whole = ald_format_bytes(ald_figure(total));

        if (available == ALD_ABSENT_UINT64 || total == ALD_ABSENT_UINT64)
                return g_steal_pointer(&whole);
        return g_strdup_printf("%s free of %s", part, whole);
}

char *ald_cluster_memory(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        GString *text = g_string_new(NULL);
        g_autofree char *host = format_free(totals->memory_available_bytes, totals->memory_total_bytes);

        g_string_append(text, host);
        if (known_count(totals->device_memory_total_bytes) > 0) {
                g_autofree char *own = format_free(
                        totals->device_memory_available_bytes, totals->device_memory_total_bytes);

                g_string_append_printf(text, ", devices %s", own);
                if (known_count(totals->device_memory_unread) > 0)
                        g_string_append_printf(
                                text, " (use of %" PRIu64 " unknown)", totals->device_memory_unread);
        }
        return g_string_free(text, FALSE);
}

GPtrArray *ald_cluster_facts(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        GPtrArray *facts = ald_facts_new();

        ald_facts_add(facts, "Known", ald_cluster_counts(model));
        if (known_count(totals->hidden) > 0)
                ald_facts_add(facts, "No objects", ald_format_count(ald_figure(totals->hidden)));
        ald_facts_add(facts, "FP16 compute", ald_cluster_tflops(model));
        ald_facts_add(facts, "Memory bandwidth", ald_cluster_bandwidth(model));
        ald_facts_add(facts, "Memory", ald_cluster_memory(model));
        return facts;
}
