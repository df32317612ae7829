/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/describe.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/summary.h"
#include "clients/alidadectl/text.h"

#define LABEL_WIDTH 16

char *ald_describe_counts(json_t *totals)
{
        double nodes = ald_field_number(totals, "Nodes"), links = ald_field_number(totals, "Links");
        double left_out = ald_field_number(totals, "NodesLeftOut");
        g_autofree char *n = ald_format_count(nodes), *l = ald_format_count(links), *out = NULL;

        if (left_out > 0)
                out = g_strdup_printf(" (%.0f not counted)", left_out);
        return g_strdup_printf("%s %s%s, %s %s", n, nodes == 1 ? "node" : "nodes", out ? out : "", l,
                links == 1 ? "link" : "links");
}

/* " (1 failed, 2 never measured)"; reasons that are not known here are left out. */
static void append_reasons(GString *text, json_t *reasons)
{
        static const struct {
                const char *name, *words;
        } known[] = {
                { "Failed", "failed" },
                { "NeverMeasured", "never measured" },
                { "NoOpenCl", "without OpenCL" },
        };
        bool any = false;

        for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
                double n = ald_field_number(reasons, known[i].name);

                if (!(n > 0))
                        continue;
                g_string_append_printf(text, "%s%.0f %s", any ? ", " : " (", n, known[i].words);
                any = true;
        }
        if (any)
                g_string_append_c(text, ')');
}

/* Takes the text of the figure; adds how many devices are not in it, and why. */
static char *add_left_out(char *figure, double left_out, json_t *reasons)
{
        g_autofree char *known = figure;
        GString *text = g_string_new(known);

        if (left_out > 0) {
                g_string_append_printf(
                        text, ", %.0f %s left out", left_out, left_out == 1 ? "device" : "devices");
                append_reasons(text, reasons);
        }
        return g_string_free(text, FALSE);
}

char *ald_describe_tflops(json_t *totals)
{
        return add_left_out(ald_format_tflops(ald_field_number(totals, "TflopsFp16")),
                ald_field_number(totals, "TflopsFp16LeftOut"),
                json_object_get(totals, "TflopsFp16LeftOutReasons"));
}

static const char *describe_devices(const char *of)
{
        return strcmp(of, "gpu") == 0    ? "GPUs and accelerators"
               : strcmp(of, "cpu") == 0  ? "processors"
               : strcmp(of, "both") == 0 ? "GPUs, accelerators and processors"
                                         : of;
}

char *ald_describe_bandwidth(json_t *totals)
{
        double rate = ald_field_number(totals, "MemoryBandwidthBytesPerSecond");
        const char *of = ald_field_text(totals, "MemoryBandwidthOf");
        char *text = ald_format_bytes_per_second(rate);

        if (!isnan(rate) && of) {
                g_autofree char *known = text, *safe = ald_text_safe(of);

                text = g_strdup_printf("%s over %s", known, describe_devices(safe));
        }
        return add_left_out(text, ald_field_number(totals, "MemoryBandwidthLeftOut"),
                json_object_get(totals, "MemoryBandwidthLeftOutReasons"));
}

/* "50 GiB free of 200 GiB", or the whole where it is not known what is free. */
static char *format_free(double available, double total)
{
        g_autofree char *part = ald_format_bytes(available), *whole = ald_format_bytes(total);

        if (isnan(available) || isnan(total))
                return g_steal_pointer(&whole);
        return g_strdup_printf("%s free of %s", part, whole);
}

char *ald_describe_memory(json_t *totals)
{
        double device = ald_field_number(totals, "DeviceMemoryTotalBytes");
        double unread = ald_field_number(totals, "DeviceMemoryUnread");
        char *text = format_free(ald_field_number(totals, "MemoryAvailableBytes"),
                ald_field_number(totals, "MemoryTotalBytes"));

        if (device > 0) {
                g_autofree char *host = text;
                g_autofree char *own = format_free(
                        ald_field_number(totals, "DeviceMemoryAvailableBytes"), device);

                text = g_strdup_printf("%s, devices %s", host, own);
        }
        if (device > 0 && unread > 0) {
                g_autofree char *known = text;

                text = g_strdup_printf("%s (use of %.0f unknown)", known, unread);
        }
        return text;
}

static void line(GString *out, const char *label, char *value, unsigned columns)
{
        ald_describe_entry(out, label, LABEL_WIDTH, columns, value);
}

void ald_describe_cluster(GString *out, AldModel *model, unsigned columns)
{
        json_t *totals = ald_model_totals(model);
        char *findings = ald_findings_summary(ald_model_findings(model));
        double hidden = ald_field_number(totals, "Hidden");

        g_string_append(out, ALD_STYLE_BOLD "Cluster" ALD_STYLE_NORMAL "\n");
        line(out, "Known", ald_describe_counts(totals), columns);
        if (hidden > 0)
                line(out, "No objects", ald_format_count(hidden), columns);
        line(out, "FP16 compute", ald_describe_tflops(totals), columns);
        line(out, "Memory bandwidth", ald_describe_bandwidth(totals), columns);
        line(out, "Memory", ald_describe_memory(totals), columns);
        line(out, "Findings", findings ? findings : g_strdup("none"), columns);
}

static bool is_about(json_t *finding, const char *node_id)
{
        size_t i;
        json_t *item;

        if (!node_id)
                return true;
        json_array_foreach(ald_field_array(finding, "Nodes"), i, item) {
                if (g_strcmp0(json_string_value(item), node_id) == 0)
                        return true;
        }
        return false;
}

json_t *ald_findings_of(json_t *findings, const char *node_id)
{
        json_t *own = json_array(), *finding;
        size_t i;

        json_array_foreach(findings, i, finding) {
                if (is_about(finding, node_id))
                        json_array_append(own, finding);
        }
        return own;
}

/* The names of the nodes that a finding is about. */
static char *name_nodes(json_t *finding, AldModel *model)
{
        GString *names = g_string_new(NULL);
        size_t i;
        json_t *item;

        json_array_foreach(ald_field_array(finding, "Nodes"), i, item) {
                const char *id = json_string_value(item);
                const AldEntity *node = ald_model_get(model, id);
                g_autofree char *safe = node || !id ? NULL : ald_text_safe(id);

                if (id)
                        g_string_append_printf(
                                names, "%s%s", names->len > 0 ? ", " : "", node ? node->label : safe);
        }
        return g_string_free(names, FALSE);
}

static void describe_finding(
        GString *out, json_t *finding, AldModel *model, const char *style, unsigned columns)
{
        static const struct {
                const char *field, *before;
        } texts[] = { { "Text", "" }, { "Remedy", "Remedy: " } };
        g_autofree char *id = ald_format_field("Id", json_object_get(finding, "Id"), NAN);
        g_autofree char *severity = ald_format_field("Severity", json_object_get(finding, "Severity"), NAN);
        g_autofree char *nodes = name_nodes(finding, model);
        g_autofree char *head = g_strdup_printf(
                "%s%s%s %s%s%s", style, severity, ALD_STYLE_NORMAL, id, nodes[0] ? ": " : "", nodes);

        ald_text_wrap(out, head, columns, 0);
        g_string_append_c(out, '\n');
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                const char *text = ald_field_text(finding, texts[i].field);
                g_autofree char *safe = text ? ald_text_safe(text) : NULL;
                g_autofree char *whole = safe ? g_strconcat(texts[i].before, safe, NULL) : NULL;

                if (!whole)
                        continue;
                g_string_append(out, "    ");
                ald_text_wrap(out, whole, columns, 4);
                g_string_append_c(out, '\n');
        }
}

void ald_describe_findings(GString *out, AldModel *model, const char *node_id, unsigned columns)
{
        static const struct {
                const char *severity, *style;
        } order[] = { { "error", ALD_STYLE_ERROR }, { "warning", ALD_STYLE_WARNING }, { NULL, "" } };
        json_t *findings = ald_findings_of(ald_model_findings(model), node_id), *finding;

        for (size_t o = 0; o < G_N_ELEMENTS(order); o++) {
                size_t i;

                json_array_foreach(findings, i, finding) {
                        const char *severity = ald_field_text(finding, "Severity");
                        bool other = g_strcmp0(severity, "error") != 0 && g_strcmp0(severity, "warning") != 0;

                        if (order[o].severity ? g_strcmp0(severity, order[o].severity) == 0 : other)
                                describe_finding(out, finding, model, order[o].style, columns);
                }
        }
        json_decref(findings);
}

json_t *ald_find_brokerless(AldModel *model)
{
        json_t *finding;
        size_t i;

        json_array_foreach(ald_model_findings(model), i, finding) {
                if (g_strcmp0(ald_field_text(finding, "Id"), "no-broker") == 0)
                        return finding;
        }
        return NULL;
}

void ald_describe_brokerless(GString *out, AldModel *model, unsigned columns)
{
        json_t *finding = ald_find_brokerless(model);

        if (!finding)
                return;
        g_string_append_c(out, '\n');
        describe_finding(out, finding, model, ALD_STYLE_ERROR, columns);
}
