/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/live/held-rows.h"
#include "record/record-bus.h"

int ald_held_rows_read(sd_bus_message *message, const AldStruct *type, AldHeldRows *ret)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;
        int r = ald_record_bus_read_rows(message, type, ALD_HELD_ROWS_MAX, owned, &rows);

        if (r < 0)
                return r;
        *ret = (AldHeldRows){ rows, g_steal_pointer(&owned), sd_bus_message_ref(message) };
        return 0;
}

void ald_held_rows_clear(AldHeldRows *rows)
{
        rows->rows = (AldRows){ .type = rows->rows.type };
        g_clear_pointer(&rows->owned, g_ptr_array_unref);
        g_clear_pointer(&rows->message, sd_bus_message_unref);
}
