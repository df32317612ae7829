/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/cluster-facts.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"
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
        g_autofree char *n_nodes = ald_format_count(ald_figure(totals->nodes));
        g_autofree char *n_links = ald_format_count(ald_figure(totals->links));
        g_autofree char *nodes = g_strdup_printf(ngettext("%s node", "%s nodes", totals->nodes), n_nodes);
        g_autofree char *links = g_strdup_printf(ngettext("%s link", "%s links", totals->links), n_links);
        g_autofree char *out = NULL;

        if (left_out == 0)
                return g_strdup_printf("%s, %s", nodes, links);
        out = g_strdup_printf(
                ngettext("%lu not counted", "%lu not counted", left_out), (unsigned long) left_out);
        return g_strdup_printf("%s (%s), %s", nodes, out, links);
}

static const char *reason_format(AldLeftOut reason, unsigned long n)
{
        switch (reason) {
        case ALD_LEFT_OUT_FAILED:
                return ngettext("%lu failed", "%lu failed", n);
        case ALD_LEFT_OUT_NEVER_MEASURED:
                return ngettext("%lu never measured", "%lu never measured", n);
        case ALD_LEFT_OUT_NO_OPENCL:
                return ngettext("%lu without OpenCL", "%lu without OpenCL", n);
        case ALD_LEFT_OUT_N:
                break;
        }
        g_assert_not_reached();
}

static const char *reason_word(AldLeftOut reason)
{
        switch (reason) {
        case ALD_LEFT_OUT_FAILED:
                return _("failed");
        case ALD_LEFT_OUT_NEVER_MEASURED:
                return _("never measured");
        case ALD_LEFT_OUT_NO_OPENCL:
                return _("without OpenCL");
        case ALD_LEFT_OUT_N:
                break;
        }
        g_assert_not_reached();
}

/* ": never measured" if that is the reason for all of them. */
static bool append_only_reason(GString *text, const json_t *reasons, unsigned long n)
{
        for (AldLeftOut reason = 0; reason < ALD_LEFT_OUT_N; reason++) {
                const json_t *value = json_object_get(reasons, ald_left_out_to_string(reason));

                if (json_integer_value(value) != (json_int_t) n)
                        continue;
                g_string_append_printf(text, ": %s", reason_word(reason));
                return true;
        }
        return false;
}

/* " (1 failed, 2 never measured)"; reasons that this version does not know are left out. */
static void append_reasons(GString *text, const json_t *reasons)
{
        bool any = false;

        for (AldLeftOut reason = 0; reason < ALD_LEFT_OUT_N; reason++) {
                const json_t *value = json_object_get(reasons, ald_left_out_to_string(reason));
                json_int_t n = json_integer_value(value);

                if (n <= 0)
                        continue;
                g_string_append(text, any ? ", " : " (");
                g_string_append_printf(text, reason_format(reason, (unsigned long) n), (unsigned long) n);
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
        unsigned long n = (unsigned long) known_count(left_out);
        const json_t *why;
        GString *text;

        if (n == 0)
                return g_steal_pointer(&known);
        text = g_string_new(NULL);
        g_string_printf(text, ngettext("%s, %lu device left out", "%s, %lu devices left out", n), known, n);
        why = json_object_get(ald_model_totals_json(model), reasons);
        if (!append_only_reason(text, why, n))
                append_reasons(text, why);
        return g_string_free(text, FALSE);
}

char *ald_cluster_tflops(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);

        return add_left_out(model, ald_format_tflops(totals->tflops_fp16), totals->tflops_fp16_left_out,
                "TflopsFp16LeftOutReasons");
}

static char *add_devices(const char *rate, const char *of)
{
        g_autofree char *safe = ald_text_safe(of);

        if (strcmp(of, "gpu") == 0)
                return g_strdup_printf(_("%s over GPUs and accelerators"), rate);
        if (strcmp(of, "cpu") == 0)
                return g_strdup_printf(_("%s over processors"), rate);
        if (strcmp(of, "both") == 0)
                return g_strdup_printf(_("%s over GPUs, accelerators and processors"), rate);
        return g_strdup_printf(_("%s over %s"), rate, safe);
}

char *ald_cluster_bandwidth(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        double rate = ald_figure(totals->memory_bandwidth_bytes_per_second);
        char *text = ald_format_bytes_per_second(rate);

        if (!isnan(rate) && totals->memory_bandwidth_of) {
                g_autofree char *known = text;

                text = add_devices(known, totals->memory_bandwidth_of);
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
        return g_strdup_printf(_("%s free of %s"), part, whole);
}

char *ald_cluster_memory(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        unsigned long unread = (unsigned long) known_count(totals->device_memory_unread);
        g_autofree char *host = format_free(totals->memory_available_bytes, totals->memory_total_bytes);
        GString *text = g_string_new(host);

        if (known_count(totals->device_memory_total_bytes) > 0) {
                g_autofree char *own = format_free(
                        totals->device_memory_available_bytes, totals->device_memory_total_bytes);

                g_string_printf(text, _("%s, devices %s"), host, own);
                if (unread > 0)
                        g_string_append_printf(text,
                                ngettext(" (use of %lu unknown)", " (use of %lu unknown)", unread), unread);
        }
        return g_string_free(text, FALSE);
}

GPtrArray *ald_cluster_facts(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        GPtrArray *facts = ald_facts_new();

        ald_facts_add(facts, N_("Known"), ald_cluster_counts(model));
        if (known_count(totals->hidden) > 0)
                ald_facts_add(facts, N_("No objects"), ald_format_count(ald_figure(totals->hidden)));
        ald_facts_add(facts, N_("FP16 compute"), ald_cluster_tflops(model));
        ald_facts_add(facts, N_("Memory bandwidth"), ald_cluster_bandwidth(model));
        ald_facts_add(facts, N_("Memory"), ald_cluster_memory(model));
        return facts;
}
