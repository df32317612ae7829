/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/planner-text.h"

AldPlannerInput planner_input(uint64_t now)
{
        return (AldPlannerInput){
                .now_realtime = now, .now = now, .bytes_per_hour = UINT64_MAX, .max = 100, .started = now
        };
}

static void append(GString *text, const AldDueProbe *probe)
{
        const char *reason = ald_due_reason_to_string(probe->reason), *between = text->len > 0 ? ", " : "";
        unsigned peer = probe->peer.bytes[3];

        if (probe->kind == ALD_KIND_LINK_RDMA)
                g_string_append_printf(text, "%s%s %u %s %s over %s%s%s", between, probe->source_port, peer,
                        probe->sink_port, reason, probe->address, probe->interface ? "%" : "",
                        probe->interface ?: "");
        else
                g_string_append_printf(text, "%s%u %s %s %s%s%s", between, peer, probe->address,
                        probe->interface ?: "?", reason, probe->scope == ALD_LINK_SCOPE_FULL ? "" : " ",
                        probe->scope == ALD_LINK_SCOPE_FULL ? "" : ald_link_scope_to_string(probe->scope));
}

void planner_check(AldStore *store, const AldPlannerInput *input, const char *expected)
{
        g_autoptr(GArray) probes = ald_planner_compute(store, input);
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < probes->len; i++)
                append(text, &g_array_index(probes, AldDueProbe, i));
        g_assert_cmpstr(text->str, ==, expected);
}
