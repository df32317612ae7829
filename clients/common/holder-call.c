/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/holder-call.h"
#include "common/bus-cleanup.h"
#include "record/record-bus.h"

#define SERVICE "org.alidade.Telemetry1"
#define SERVICE_PATH "/org/alidade/Telemetry1"
#define TIMEOUT_USEC (2 * G_USEC_PER_SEC) /* what clients show does not depend on the answer */

int ald_own_holders_read(sd_bus *bus, AldOwnHolders *ret)
{
        g_autoptr(AldMessage) call = NULL, answer = NULL;
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r = sd_bus_message_new_method_call(bus, &call, SERVICE, SERVICE_PATH, SERVICE, "GetHolders");

        if (r >= 0)
                r = sd_bus_message_set_auto_start(call, 0);
        if (r >= 0)
                r = sd_bus_call(bus, call, TIMEOUT_USEC, NULL, &answer);
        if (r >= 0)
                r = ald_record_bus_read_rows(answer, &ald_holder_struct, ALD_RECORD_MAX, owned, &rows);
        if (r < 0)
                return r;
        *ret = (AldOwnHolders){ rows, g_steal_pointer(&owned), g_steal_pointer(&answer) };
        return 0;
}

void ald_own_holders_clear(AldOwnHolders *holders)
{
        g_clear_pointer(&holders->owned, g_ptr_array_unref);
        g_clear_pointer(&holders->answer, sd_bus_message_unref);
}
