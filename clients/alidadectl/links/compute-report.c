/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/links/compute-text.h"
#include "clients/alidadectl/links/probe-private.h"
#include "clients/alidadectl/print.h"

int ald_probe_print_devices(const AldProbe *probe)
{
        const json_t *result = json_object_get(probe->job, "Result"), *row;
        const json_t *rows = ald_field_array(result, "Devices");
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        size_t i;

        json_array_foreach(rows, i, row) {
                if (i > 0)
                        g_string_append_c(out, '\n');
                ald_compute_describe(out, row, ald_field_array(result, "Errors"), info.columns);
        }
        if (out->len == 0) {
                ald_complain("Cannot read the result of the probe of %s", probe->order->label);
                return ALD_EXIT_ERROR;
        }
        return ald_print(probe->order->ctl, &info, out->str);
}
