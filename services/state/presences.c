/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/state/presences.h"
#include "services/common/service.h"

#define FORGOTTEN "forgotten"
#define HIDDEN "hidden"

static bool refuse_presence(
        AldStateManager *manager, const AldPresencePut *put, const char *field, const char *reason)
{
        ald_state_manager_refuse(manager, put->node, ald_kinds[ALD_KIND_PRESENCE].name, field, reason);
        return false;
}

/* The cluster service cannot declare a node unknown. */
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

/* Forgets a node. If another node forgets it, our results are kept, since that node may be wrong or lying. */
static bool forget_node(AldStateManager *manager, const AldPresencePut *put, const AldId *id)
{
        AldStore *store = ald_state_manager_store(manager);

        if (ald_id_equal(id, &ald_store_local_node(store)->id))
                return refuse_presence(manager, put, "State", "a node cannot forget itself");
        ald_store_forget(store, id, 1);
        return true;
}

/* Drops the links to all nodes that a call forgets, together, since each pass examines all links of this
 * node. */
static void drop_links(AldStateManager *manager, const AldPresencePut *puts, size_t n)
{
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(AldId));
        AldId id;

        for (size_t i = 0; i < n; i++)
                if (g_str_equal(puts[i].state, FORGOTTEN) && ald_id_parse(puts[i].node, &id) >= 0)
                        g_array_append_val(ids, id);
        if (ids->len > 0)
                ald_store_drop_own_links(ald_state_manager_store(manager), (const AldId *) (void *) ids->data,
                        ids->len, (uint64_t) g_get_monotonic_time());
}

static bool store_presence(AldStateManager *manager, const AldPresencePut *put, const AldId *id)
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

        r = ald_record_new(ALD_KIND_PRESENCE, &presence, &record);
        if (r >= 0)
                r = ald_store_put_about(store, id, ALD_KIND_PRESENCE, record, ald_realtime_usec(), now);
        if (r < 0)
                return refuse_presence(manager, put, NULL, g_strerror(-r));
        ald_store_announce(store, id, put->announced);
        ald_store_note_epoch(store, id, put->epoch);
        return true;
}

static bool put_presence(AldStateManager *manager, const AldPresencePut *put)
{
        AldId id;

        if (ald_id_parse(put->node, &id) < 0)
                return refuse_presence(manager, put, NULL, "invalid node id");
        if (!in_range(put))
                return refuse_presence(manager, put, NULL, "number out of range");
        if (g_str_equal(put->state, FORGOTTEN) || g_str_equal(put->state, HIDDEN))
                return forget_node(manager, put, &id);
        if (!is_state(put->state))
                return refuse_presence(manager, put, "State", "unknown");
        return store_presence(manager, put, &id);
}

size_t ald_presences_put(AldStateManager *manager, const AldPresencePut *puts, size_t n)
{
        size_t accepted = 0;

        for (size_t i = 0; i < n; i++)
                accepted += put_presence(manager, &puts[i]);
        drop_links(manager, puts, n);
        return accepted;
}

void ald_presences_set_unknown(AldStateManager *manager)
{
        ald_store_lose_presences(
                ald_state_manager_store(manager), ald_realtime_usec(), (uint64_t) g_get_monotonic_time());
}
