/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/update-bus.h"
#include "services/state/presences.h"
#include "services/state/put-bus.h"

static bool refuse(AldStateManager *manager, const AldUpdateRow *row, const char *reason)
{
        ald_state_manager_refuse(manager, row->node, row->kind, row->field, reason);
        return false;
}

static bool take(AldStateManager *manager, const AldUpdateRow *row)
{
        /* With a field, the same errors are about its value. */
        if (row->refusal == -ENOENT && !row->field)
                return refuse(manager, row, "unknown kind");
        if (row->refusal == -EINVAL && !row->field)
                return refuse(manager, row, "invalid node id");
        if (row->refusal < 0)
                return refuse(manager, row, ald_record_describe(row->refusal));
        if (ald_kinds[row->update.kind].local)
                return refuse(manager, row, "records of this kind are not sent between nodes");
        return ald_state_manager_put(manager, &row->update);
}

int ald_put_bus_read(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused)
{
        g_auto(AldUpdateRow) row = {};
        uint64_t accepted = 0, refused = 0;
        int r;

        r = sd_bus_message_enter_container(message, 'a', ALD_UPDATE_SIGNATURE);
        if (r < 0)
                return r;
        while ((r = ald_update_bus_read(message, &row)) > 0)
                if (take(manager, &row))
                        accepted++;
                else
                        refused++;
        /* sd-bus cannot go on behind such a string, so this is the last record of its message. */
        if (r == -EBADMSG)
                refuse(manager, &row, "a string contains a noncharacter");
        if (r < 0)
                return r;
        *ret_accepted = accepted;
        *ret_refused = refused;
        return 0;
}

int ald_put_bus_read_presences(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused)
{
        g_autoptr(GArray) puts = g_array_new(FALSE, FALSE, sizeof(AldPresencePut));
        AldPresencePut put;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "(" ALD_PRESENCE_SIGNATURE ")");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(message, "(" ALD_PRESENCE_SIGNATURE ")", &put.node, &put.state,
                        &put.since_usec, &put.clock_offset_usec, &put.announced, &put.epoch)) > 0)
                g_array_append_val(puts, put);
        if (r < 0)
                return r;
        *ret_accepted = ald_presences_put(manager, (const AldPresencePut *) (void *) puts->data, puts->len);
        *ret_refused = puts->len - *ret_accepted;
        return 0;
}
