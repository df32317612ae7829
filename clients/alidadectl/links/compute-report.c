/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/probe-private.h"
#include "clients/alidadectl/state/describe.h"
#include "clients/command-line/print.h"
#include "clients/common/compute-facts.h"
#include "record/json.h"

#define LABEL_WIDTH 10

/* "gemm: the driver crashed; read: timeout", in the order in which the probe measures. */
static char *describe_errors(const AldComputeResult *result, const char *device)
{
        GString *text = g_string_new(NULL);

        for (AldComputeErrorMetric metric = 0; metric < ALD_COMPUTE_ERROR_METRIC_N; metric++)
                for (size_t i = 0; i < result->errors.n; i++) {
                        const AldComputeError *error = ald_rows_at(&result->errors, i);

                        if (g_strcmp0(error->device, device) == 0 &&
                                g_strcmp0(error->metric, ald_compute_error_metric_to_string(metric)) == 0)
                                g_string_append_printf(text, "%s%s: %s", text->len > 0 ? "; " : "",
                                        error->metric, error->message ?: error->error);
                }
        return g_string_free(text, text->len == 0);
}

static void describe(GString *out, const AldComputeResult *result, unsigned columns)
{
        for (size_t i = 0; i < result->devices.n; i++) {
                const AldComputeFigures *figures = ald_rows_at(&result->devices, i);
                g_autofree char *errors = describe_errors(result, figures->id);
                AldComputeDevice device = ALD_COMPUTE_DEVICE_INIT;
                g_autoptr(GPtrArray) facts = NULL;

                ald_struct_copy_common(
                        &ald_compute_device_struct, &device, &ald_compute_figures_struct, figures);
                device.failure = errors;
                facts = ald_compute_facts(&device, figures->name);
                if (i > 0)
                        g_string_append_c(out, '\n');
                ald_describe_facts(out, facts, LABEL_WIDTH, columns);
        }
}

int ald_probe_print_devices(const AldProbeRequest *probe)
{
        json_t *result = json_object_get(probe->job, "Result");
        g_autoptr(GString) out = g_string_new(NULL);
        g_autoptr(AldRecord) record = NULL;
        AldStyleInfo info = ald_style_info();

        if (json_is_object(result) &&
                ald_record_from_json(ALD_KIND_COMPUTE_RESULT, result, &record, NULL) >= 0)
                describe(out, ald_record_as(record, COMPUTE_RESULT, AldComputeResult), info.columns);
        if (out->len == 0) {
                ald_complain("Cannot read the result of the probe of %s", probe->order->label);
                return ALD_EXIT_ERROR;
        }
        return ald_print(probe->order->ctl, &info, out->str);
}
