/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/cluster-facts.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"
#include "state/compute/compute-summary.h"
#include "state/compute/opencl-driver.h"

/* Returns 0 for an absent count. */
static uint64_t known_count(uint64_t n)
{
        return n == ALD_ABSENT_UINT64 ? 0 : n;
}

char *ald_cluster_counts(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        uint64_t left_out = known_count(totals->nodes_left_out);
        g_autofree char *n_nodes = ald_format_count(ald_uint64_to_double(totals->nodes));
        g_autofree char *n_links = ald_format_count(ald_uint64_to_double(totals->links));
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
        case ALD_LEFT_OUT_DISBELIEVED:
                return ngettext("%lu not believed", "%lu not believed", n);
        case ALD_LEFT_OUT_NEVER_MEASURED:
                return ngettext("%lu never measured", "%lu never measured", n);
        case ALD_LEFT_OUT_NO_OPENCL:
                return ngettext("%lu without OpenCL", "%lu without OpenCL", n);
        case ALD_LEFT_OUT_OTHER_PRECISION:
                return ngettext("%lu measured in another precision", "%lu measured in another precision", n);
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
        case ALD_LEFT_OUT_DISBELIEVED:
                return _("not believed");
        case ALD_LEFT_OUT_NEVER_MEASURED:
                return _("never measured");
        case ALD_LEFT_OUT_NO_OPENCL:
                return _("without OpenCL");
        case ALD_LEFT_OUT_OTHER_PRECISION:
                return _("measured in another precision");
        case ALD_LEFT_OUT_N:
                break;
        }
        g_assert_not_reached();
}

/* Appends ": never measured" and returns true if all n devices have the same reason. */
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

/* Appends " (1 failed, 2 never measured)"; reasons that this version does not know are left out. */
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

/* Lists the packages with OpenCL drivers that the nodes lack, as their findings do: "a, b"; NULL if there are
 * none. */
static char *list_missing_packages(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        g_autoptr(GHashTable) listed = g_hash_table_new(g_str_hash, g_str_equal);
        GString *list = g_string_new(NULL);

        for (guint i = 0; i < nodes->len; i++) {
                const AldEntity *node = nodes->pdata[i];
                g_autoptr(GPtrArray)
                        packages = ald_opencl_missing_packages(ald_entity_as(node, BACKENDS, AldBackends));

                for (guint k = 0; k < packages->len && !ald_node_exclusion(model, node); k++)
                        if (g_hash_table_add(listed, packages->pdata[k]))
                                ald_parts_add_text(list, "%s", packages->pdata[k]);
        }
        return g_string_free(list, list->len == 0);
}

/* Appends ": install pocl-opencl-icd to measure it" and returns true if all n devices lack nothing but
 * OpenCL. */
static bool append_packages(GString *text, AldModel *model, const json_t *reasons, unsigned long n)
{
        const json_t *value = json_object_get(reasons, ald_left_out_to_string(ALD_LEFT_OUT_NO_OPENCL));
        g_autofree char *packages = json_integer_value(value) == (json_int_t) n ? list_missing_packages(model)
                                                                                : NULL;

        if (!packages)
                return false;
        g_string_append_printf(
                text, ngettext(": install %s to measure it", ": install %s to measure them", n), packages);
        return true;
}

/* Takes the text of the figure and returns it with the number of devices that are missing from it, and why.
 * `reasons` is the name of the property with the reasons. With `remedy`, names what to install instead, where
 * that helps; one of the totals suffices for that. */
static char *add_left_out(AldModel *model, char *figure, uint64_t left_out, const char *reasons, bool remedy)
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
        if (!(remedy && append_packages(text, model, why, n)) && !append_only_reason(text, why, n))
                append_reasons(text, why);
        return g_string_free(text, FALSE);
}

bool ald_cluster_has_fp32_only(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);

        return isnan(totals->tflops_fp16) && !isnan(totals->tflops_fp32);
}

char *ald_cluster_compute(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        g_autofree char *fp32 = NULL;
        char *figure;

        if (ald_cluster_has_fp32_only(model)) {
                fp32 = ald_format_tflops(totals->tflops_fp32);
                figure = g_strdup_printf(_("%s (none measured in FP16)"), fp32);
        } else {
                figure = ald_format_tflops(totals->tflops_fp16);
        }
        return add_left_out(model, figure, totals->tflops_fp16_left_out, "TflopsFp16LeftOutReasons", true);
}

char *ald_cluster_fp32(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        unsigned long n = (unsigned long) known_count(totals->tflops_fp32_devices);
        g_autofree char *figure = ald_format_tflops(totals->tflops_fp32);

        if (isnan(totals->tflops_fp32) || ald_cluster_has_fp32_only(model))
                return NULL;
        return g_strdup_printf(
                ngettext("%s over %lu device measured in FP32", "%s over %lu devices measured in FP32", n),
                figure, n);
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
        double rate = ald_uint64_to_double(totals->memory_bandwidth_bytes_per_second);
        char *text = ald_format_bytes_per_second(rate);

        if (!isnan(rate) && totals->memory_bandwidth_of) {
                g_autofree char *known = text;

                text = add_devices(known, totals->memory_bandwidth_of);
        }
        return add_left_out(
                model, text, totals->memory_bandwidth_left_out, "MemoryBandwidthLeftOutReasons", false);
}

/* Returns "50 GiB free of 200 GiB", or only the total if the free part is unknown. */
static char *format_free(uint64_t available, uint64_t total)
{
        g_autofree char *part = ald_format_bytes(ald_uint64_to_double(available));
        g_autofree char *whole = ald_format_bytes(ald_uint64_to_double(total));

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

char *ald_cluster_power(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        unsigned long parts = (unsigned long) known_count(totals->nodes_power_of_parts);
        unsigned long unread = (unsigned long) known_count(totals->nodes_power_unread);
        g_autofree char *figure = ald_format_figure(
                &ald_unit_microwatts, ald_uint64_to_double(totals->power_micro_watts));
        GString *text;

        if (totals->power_micro_watts == ALD_ABSENT_UINT64)
                return NULL;
        text = g_string_new(figure);
        if (parts > 0)
                g_string_append_printf(text,
                        /* Translators: The power of a cluster, after its figure, without what else is in
                         * these nodes. */
                        ngettext(", only parts of %lu node", ", only parts of %lu nodes", parts), parts);
        if (unread > 0)
                g_string_append_printf(
                        text, ngettext(", %lu node not counted", ", %lu nodes not counted", unread), unread);
        return g_string_free(text, FALSE);
}

GPtrArray *ald_cluster_facts(AldModel *model)
{
        const AldClusterTotals *totals = ald_model_totals(model);
        GPtrArray *facts = ald_facts_new();

        ald_facts_add(facts, N_("Known"), ald_cluster_counts(model));
        if (known_count(totals->hidden) > 0)
                ald_facts_add(
                        facts, N_("No objects"), ald_format_count(ald_uint64_to_double(totals->hidden)));
        ald_facts_add(facts, ald_cluster_has_fp32_only(model) ? N_("FP32 compute") : N_("FP16 compute"),
                ald_cluster_compute(model));
        ald_facts_add_known(facts, N_("FP32 compute"), ald_cluster_fp32(model));
        ald_facts_add(facts, N_("Memory bandwidth"), ald_cluster_bandwidth(model));
        ald_facts_add(facts, N_("Memory"), ald_cluster_memory(model));
        ald_facts_add_known(facts, N_("Power"), ald_cluster_power(model));
        return facts;
}
