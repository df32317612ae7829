/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/record-bus.h"
#include "services/state/presences.h"
#include "services/state/put-bus.h"
#include "services/state/records-bus.h"

/* One record as it stands in the message, before anything of it is believed. */
typedef struct Incoming {
        const char *node;
        const char *kind_name;
        const char *key;
        uint64_t epoch, seq, updated;
        int deleted;
} Incoming;

static int read_head(sd_bus_message *message, Incoming *in)
{
        return sd_bus_message_read(message, "ssstttb", &in->node, &in->kind_name, &in->key, &in->epoch,
                &in->seq, &in->updated, &in->deleted);
}

static bool refuse(AldStateManager *manager, const Incoming *in, const char *field, const char *reason)
{
        ald_state_manager_refuse(manager, in->node, in->kind_name, field, reason);
        return false;
}

/* Whether it is that the record is bad, rather than the message. */
static bool is_refusal(int r, const char *field)
{
        return field || r == -E2BIG;
}

/* sd-bus cannot go on behind a string that it does not take, so this is the last record of its message. */
static int end_at(AldStateManager *manager, const Incoming *in, int r)
{
        if (r == -EBADMSG)
                refuse(manager, in, NULL, "a string that the bus lets through and that is no text");
        return r;
}

static int read_record(sd_bus_message *message, AldStateManager *manager, bool *ret_accepted)
{
        g_autoptr(AldRecord) record = NULL;
        const char *field = NULL;
        Incoming in = { .node = "", .kind_name = "" };
        AldId node;
        int r, kind;

        r = read_head(message, &in);
        if (r < 0)
                return end_at(manager, &in, r);
        kind = ald_kind_from_name(in.kind_name);
        if (kind < 0 || in.deleted) {
                r = sd_bus_message_skip(message, "a{sv}");
                if (r < 0)
                        return end_at(manager, &in, r);
        } else {
                r = ald_record_bus_read(message, (AldKind) kind, NULL, &record, &field);
                if (r < 0 && !is_refusal(r, field))
                        return end_at(manager, &in, r);
        }

        if (kind < 0)
                *ret_accepted = refuse(manager, &in, NULL, "unknown kind");
        else if (ald_kinds[kind].local)
                *ret_accepted = refuse(manager, &in, NULL, "of a kind that never travels");
        else if (r < 0)
                *ret_accepted = refuse(manager, &in, field, ald_record_describe(r));
        else if (ald_id_parse(in.node, &node) < 0)
                *ret_accepted = refuse(manager, &in, NULL, "no node id");
        else
                *ret_accepted = ald_state_manager_put(manager, &(AldUpdate){ .node = node,
                                                                       .kind = (AldKind) kind,
                                                                       .key = in.key,
                                                                       .stamp = { in.epoch, in.seq },
                                                                       .updated_usec = in.updated,
                                                                       .record = record });
        return 0;
}

int ald_put_bus_read(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused)
{
        uint64_t accepted = 0, refused = 0;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "(" ALD_RECORD_SIGNATURE ")");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(message, 'r', ALD_RECORD_SIGNATURE)) > 0) {
                bool taken;

                r = read_record(message, manager, &taken);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;
                accepted += taken;
                refused += !taken;
        }
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
