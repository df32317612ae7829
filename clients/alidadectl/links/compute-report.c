/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/describe.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/links/probe-private.h"
#include "clients/alidadectl/print.h"
#include "clients/common/compute-facts.h"
#include "record/json.h"

#define LABEL_WIDTH 10

/* The name of a device, which its row in the result has beside the fields of Node1.Compute. */
static const char *name_of(const json_t *rows, const char *id)
{
        return ald_field_text(ald_row_by_id(rows, id), "Name");
}

static void describe(GString *out, const AldCompute *compute, const json_t *rows, unsigned columns)
{
        for (size_t i = 0; i < compute->devices.n; i++) {
                const AldComputeDevice *device = ald_rows_at(&compute->devices, i);
                g_autoptr(GPtrArray) facts = ald_compute_facts(device, name_of(rows, device->id));

                if (i > 0)
                        g_string_append_c(out, '\n');
                ald_describe_facts(out, facts, LABEL_WIDTH, columns);
        }
}

int ald_probe_print_devices(const AldProbe *probe)
{
        json_t *result = json_object_get(probe->job, "Result");
        g_autoptr(GString) out = g_string_new(NULL);
        g_autoptr(AldRecord) record = NULL;
        AldStyleInfo info = ald_style_info();

        if (json_is_object(result) && ald_record_from_json(ALD_KIND_COMPUTE, result, &record, NULL) >= 0)
                describe(out, ald_record_as(record, COMPUTE, AldCompute), ald_field_array(result, "Devices"),
                        info.columns);
        return ald_print(probe->order->ctl, &info, out->str);
}
