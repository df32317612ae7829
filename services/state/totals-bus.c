/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/totals-bus.h"
#include "record/record-bus.h"
#include "state/compute/compute-summary.h"

int ald_totals_bus_append_reasons(sd_bus_message *message, const uint64_t counts[static ALD_LEFT_OUT_N])
{
        int r = sd_bus_message_open_container(message, 'a', "{sv}");

        for (unsigned reason = 0; r >= 0 && reason < ALD_LEFT_OUT_N; reason++)
                if (counts[reason] > 0)
                        r = sd_bus_message_append(
                                message, "{sv}", ald_left_out_to_string(reason), "t", counts[reason]);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_reasons_property(
        sd_bus_message *message, const char *name, const uint64_t counts[static ALD_LEFT_OUT_N])
{
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append_basic(message, 's', name);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{sv}");
        if (r >= 0)
                r = ald_totals_bus_append_reasons(message, counts);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_totals_bus_append_changed(sd_bus_message *message, const AldTotals *totals, uint32_t set)
{
        const AldStruct *type = &ald_cluster_totals_struct;
        int r;

        G_STATIC_ASSERT(sizeof(AldClusterTotals) / sizeof(uint64_t) <= 30);
        r = sd_bus_message_append_basic(message, 's', "org.alidade.State1");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        for (size_t i = 0; r >= 0 && i < type->n_fields; i++)
                if (set & ALD_TOTALS_FIGURE(i))
                        r = ald_record_bus_append_field(message, &type->fields[i], &totals->figures);
        if (r >= 0 && set & ALD_TOTALS_TFLOPS_FP16_REASONS)
                r = append_reasons_property(message, "TflopsFp16LeftOutReasons", totals->tflops_fp16_reasons);
        if (r >= 0 && set & ALD_TOTALS_MEMORY_BANDWIDTH_REASONS)
                r = append_reasons_property(
                        message, "MemoryBandwidthLeftOutReasons", totals->memory_bandwidth_reasons);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : sd_bus_message_append(message, "as", 0);
}
