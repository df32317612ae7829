/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/service.h"
#include "services/state/presences.h"

#define FORGOTTEN "forgotten"

static bool refuse(AldStateManager *manager, const AldPresencePut *put, const char *field, const char *reason)
{
        ald_state_manager_refuse(manager, put->node, ald_kinds[ALD_KIND_PRESENCE].name, field, reason);
        return false;
}

/* That a node is unknown is not for the cluster service to say. */
static bool is_state(const char *word)
{
        if (g_str_equal(word, ald_presence_state_to_string(ALD_PRESENCE_STATE_UNKNOWN)))
                return false;
        for (unsigned state = 0; state < ALD_PRESENCE_STATE_N; state++)
                if (g_str_equal(word, ald_presence_state_to_string(state)))
                        return true;
        return false;
}

static bool in_range(const AldPresencePut *put)
{
        return put->since_usec <= (uint64_t) ALD_INTEGER_MAX &&
               put->announced <= (uint64_t) ALD_INTEGER_MAX && put->epoch <= (uint64_t) ALD_INTEGER_MAX &&
               (put->clock_offset_usec == ALD_ABSENT_INT64 ||
                       (put->clock_offset_usec >= -ALD_INTEGER_MAX &&
                               put->clock_offset_usec <= ALD_INTEGER_MAX));
}

/* All of a call at once, since for each walk links to them are looked for in all nodes. */
static void forget_pending(AldStateManager *manager, GHashTable *pending)
{
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(AldId));
        GHashTableIter iter;
        gpointer id;

        g_hash_table_iter_init(&iter, pending);
        while (g_hash_table_iter_next(&iter, &id, NULL))
                g_array_append_vals(ids, id, 1);
        g_hash_table_remove_all(pending);
        ald_store_forget(ald_state_manager_store(manager), (const AldId *) (void *) ids->data, ids->len,
                (uint64_t) g_get_monotonic_time());
}

static bool forget(AldStateManager *manager, const AldPresencePut *put, const AldId *id, GHashTable *pending)
{
        if (ald_id_equal(id, &ald_store_local_node(ald_state_manager_store(manager))->id))
                return refuse(manager, put, "State", "this node cannot be forgotten by itself");
        g_hash_table_add(pending, g_memdup2(id, sizeof *id));
        return true;
}

static bool keep(AldStateManager *manager, const AldPresencePut *put, const AldId *id, GHashTable *pending)
{
        AldStore *store = ald_state_manager_store(manager);
        const AldPresence presence = {
                .state = put->state,
                .since_usec = put->since_usec,
                .clock_offset_usec = put->clock_offset_usec,
        };
        uint64_t now = (uint64_t) g_get_monotonic_time();
        g_autoptr(AldRecord) record = NULL;
        int r;

        if (g_hash_table_contains(pending, id))
                forget_pending(manager, pending);
        r = ald_record_new(ALD_KIND_PRESENCE, &presence, &record);
        if (r >= 0)
                r = ald_store_put_about(store, id, ALD_KIND_PRESENCE, record, ald_realtime_usec(), now);
        if (r == -ENOSPC && g_hash_table_size(pending) > 0) { /* who goes makes room */
                forget_pending(manager, pending);
                r = ald_store_put_about(store, id, ALD_KIND_PRESENCE, record, ald_realtime_usec(), now);
        }
        if (r < 0)
                return refuse(manager, put, NULL, g_strerror(-r));
        ald_store_announce(store, id, put->announced);
        ald_store_note_epoch(store, id, put->epoch);
        return true;
}

static bool put_one(AldStateManager *manager, const AldPresencePut *put, GHashTable *pending)
{
        AldId id;

        if (ald_id_parse(put->node, &id) < 0)
                return refuse(manager, put, NULL, "no node id");
        if (!in_range(put))
                return refuse(manager, put, NULL, "a number out of range");
        if (g_str_equal(put->state, FORGOTTEN))
                return forget(manager, put, &id, pending);
        if (!is_state(put->state))
                return refuse(manager, put, "State", "unknown");
        return keep(manager, put, &id, pending);
}

size_t ald_presences_put(AldStateManager *manager, const AldPresencePut *puts, size_t n)
{
        g_autoptr(GHashTable)
                pending = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, g_free, NULL);
        size_t accepted = 0;

        for (size_t i = 0; i < n; i++)
                accepted += put_one(manager, &puts[i], pending);
        forget_pending(manager, pending);
        return accepted;
}

void ald_presences_lose(AldStateManager *manager)
{
        ald_store_lose_presences(
                ald_state_manager_store(manager), ald_realtime_usec(), (uint64_t) g_get_monotonic_time());
}

int64_t ald_presences_clock_offset(AldStore *store, const AldId *id)
{
        const AldNode *node = ald_store_find_node(store, id);
        const AldPresence *presence = node ? ald_record_as(ald_node_record(node, ALD_KIND_PRESENCE), PRESENCE,
                                                     AldPresence)
                                           : NULL;

        return presence && presence->clock_offset_usec != ALD_ABSENT_INT64 ? presence->clock_offset_usec : 0;
}
