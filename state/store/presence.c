/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "state/store/presence.h"

void ald_presence_init(AldNodePresence *presence, uint64_t real)
{
        *presence = (AldNodePresence){ .state = ALD_PRESENCE_STATE_STALE, .since = real };
}

static AldPresenceVia *find_via(AldNodePresence *presence, uint32_t broker)
{
        AldPresenceVia *oldest = &presence->vias[0];

        for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++) {
                AldPresenceVia *via = &presence->vias[i];

                if (via->broker == broker)
                        return via;
                if (via->heard < oldest->heard)
                        oldest = via;
        }
        *oldest = (AldPresenceVia){ .broker = broker };
        return oldest;
}

void ald_presence_note_heard(AldNodePresence *presence, uint32_t broker, uint64_t now)
{
        presence->heard = now;
        presence->ended = false;
        presence->spoke = presence->ended_connection = 0;
        find_via(presence, broker)->heard = now;
}

void ald_presence_forget_broker(AldNodePresence *presence, uint32_t broker)
{
        for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++)
                if (presence->vias[i].broker == broker)
                        presence->vias[i].heard = 0;
}

bool ald_status_is(const AldNodeStatus *status, AldNodeStatusState state)
{
        return ald_node_status_state_from_string(status->state) == (int) state;
}

static void set_instance(AldNodePresence *presence, const AldId *instance)
{
        if (presence->has_instance && ald_id_equal(&presence->instance, instance))
                return;
        presence->instance = *instance;
        presence->has_instance = true;
        for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++)
                presence->vias[i].connection = 0;
}

/*
 * Only a live message of another instance replaces the present one: a retained message, or the end of a
 * connection, may belong to the previous instance. Within one instance only the connection counts, since the
 * will was written when it connected, with the epoch of that time.
 */
static bool is_outdated_status(AldNodePresence *presence, const AldNodeStatus *status, const AldId *instance,
        bool retained, uint32_t broker)
{
        if (!presence->has_instance)
                return false;
        if (ald_id_equal(&presence->instance, instance))
                return status->connection < find_via(presence, broker)->connection;
        if (!retained && !ald_status_is(status, ALD_NODE_STATUS_STATE_OFFLINE))
                return false;
        return presence->heard != 0 || status->epoch < presence->epoch;
}

bool ald_presence_take_status(
        AldNodePresence *presence, const AldNodeStatus *status, bool retained, uint32_t broker, uint64_t now)
{
        AldPresenceVia *via;
        AldId instance;

        if (ald_id_parse(status->instance, &instance) < 0 ||
                is_outdated_status(presence, status, &instance, retained, broker))
                return false;
        set_instance(presence, &instance);
        presence->epoch = MAX(presence->epoch, status->epoch);
        via = find_via(presence, broker);
        via->connection = status->connection;
        if (ald_status_is(status, ALD_NODE_STATUS_STATE_DUPLICATE)) {
                via->duplicate = true;
        } else if (ald_status_is(status, ALD_NODE_STATUS_STATE_OFFLINE)) {
                presence->ended = true;
                presence->spoke = MAX(presence->spoke, via->heard);
                presence->ended_connection = MAX(presence->ended_connection, status->connection);
                via->heard = 0;
        } else if (!retained) {
                for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++)
                        presence->vias[i].duplicate = false;
                ald_presence_note_heard(presence, broker, now);
        }
        return true;
}

/* No message can take this long, so one of the clocks was set. */
static bool clock_was_set(const AldNodePresence *presence, int64_t offset)
{
        return presence->n_offsets > 0 &&
               offset < ald_presence_clock_offset(presence) - (int64_t) ALD_PRESENCE_OFFLINE_USEC;
}

void ald_presence_take_clock(AldNodePresence *presence, uint64_t theirs, uint64_t real)
{
        int64_t offset = (int64_t) theirs - (int64_t) real;

        if (clock_was_set(presence, offset))
                presence->n_offsets = presence->next_offset = 0;
        presence->offsets[presence->next_offset] = offset;
        presence->next_offset = (presence->next_offset + 1) % ALD_PRESENCE_OFFSETS;
        presence->n_offsets = (uint8_t) MIN(presence->n_offsets + 1u, ALD_PRESENCE_OFFSETS);
}

void ald_presence_shift_clock(AldNodePresence *presence, int64_t moved)
{
        presence->since = (uint64_t) MAX((int64_t) presence->since + moved, 0);
        for (unsigned i = 0; i < presence->n_offsets; i++)
                presence->offsets[i] -= moved;
}

int64_t ald_presence_clock_offset(const AldNodePresence *presence)
{
        int64_t offset = INT64_MIN;

        for (unsigned i = 0; i < presence->n_offsets; i++)
                offset = MAX(offset, presence->offsets[i]);
        return offset;
}

uint64_t ald_presence_lag(const AldNodePresence *presence)
{
        unsigned last = (presence->next_offset + ALD_PRESENCE_OFFSETS - 1) % ALD_PRESENCE_OFFSETS;

        if (presence->n_offsets == 0)
                return UINT64_MAX;
        return (uint64_t) (ald_presence_clock_offset(presence) - presence->offsets[last]);
}

/* Returns the time of the last live message through a connection that has not ended since. */
static uint64_t heard_through_living(const AldNodePresence *presence)
{
        uint64_t heard = 0;

        if (!presence->ended)
                return presence->heard;
        for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++)
                heard = MAX(heard, presence->vias[i].heard);
        return heard;
}

static AldPresenceState state_by_status(
        const AldNodePresence *presence, const AldPresenceView *view, uint64_t now)
{
        if (presence->ended)
                return ALD_PRESENCE_STATE_OFFLINE;
        if (presence->heard == 0)
                return ALD_PRESENCE_STATE_STALE;
        return now - MAX(presence->heard, view->connected_since) < ALD_PRESENCE_TRUSTED_USEC
                       ? ALD_PRESENCE_STATE_ONLINE
                       : ALD_PRESENCE_STATE_OFFLINE;
}

/* If only statuses are subscribed to, it is unknown whether the node is heard through another broker. */
static bool is_duplicate(const AldNodePresence *presence, const AldPresenceView *view, uint64_t now)
{
        bool duplicate = false, heard = false;

        for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++) {
                const AldPresenceVia *via = &presence->vias[i];

                duplicate = duplicate || via->duplicate;
                /* Silence while this service was not connected, or stopped, does not count. */
                heard = heard ||
                        (!via->duplicate && via->heard != 0 &&
                                now - MAX(via->heard, view->connected_since) < ALD_PRESENCE_STALE_USEC);
        }
        return duplicate && (view->by_status || !heard);
}

/* A broker may notice late that a connection has ended, when the node is already back through another one. */
static bool has_ended(const AldNodePresence *presence)
{
        if (!presence->ended)
                return false;
        for (unsigned i = 0; i < ALD_PRESENCE_VIAS; i++) {
                const AldPresenceVia *via = &presence->vias[i];

                if (via->heard > presence->spoke && via->connection > presence->ended_connection)
                        return false;
        }
        return true;
}

static AldPresenceState state_of(const AldNodePresence *presence, const AldPresenceView *view, uint64_t now)
{
        uint64_t heard = heard_through_living(presence);

        if (is_duplicate(presence, view, now))
                return ALD_PRESENCE_STATE_DUPLICATE;
        if (!view->by_status && heard != 0 && now - heard < ALD_PRESENCE_STALE_USEC)
                return ALD_PRESENCE_STATE_ONLINE;
        if (view->connected_since == 0)
                return presence->state == ALD_PRESENCE_STATE_OFFLINE ? ALD_PRESENCE_STATE_OFFLINE
                                                                     : ALD_PRESENCE_STATE_STALE;
        if (view->by_status)
                return state_by_status(presence, view, now);
        if (has_ended(presence) || presence->state == ALD_PRESENCE_STATE_OFFLINE)
                return ALD_PRESENCE_STATE_OFFLINE;
        return now - MAX(heard, view->connected_since) < ALD_PRESENCE_OFFLINE_USEC
                       ? ALD_PRESENCE_STATE_STALE
                       : ALD_PRESENCE_STATE_OFFLINE;
}

bool ald_presence_update(AldNodePresence *presence, const AldPresenceView *view, uint64_t now, uint64_t real)
{
        AldPresenceState state = state_of(presence, view, now);

        if (state == presence->state)
                return false;
        presence->state = state;
        presence->since = real;
        return true;
}

uint64_t ald_presence_due(const AldNodePresence *presence, const AldPresenceView *view)
{
        if (view->by_status)
                return presence->state == ALD_PRESENCE_STATE_ONLINE && view->connected_since != 0
                               ? MAX(presence->heard, view->connected_since) + ALD_PRESENCE_TRUSTED_USEC
                               : UINT64_MAX;
        if (presence->state == ALD_PRESENCE_STATE_ONLINE)
                return heard_through_living(presence) + ALD_PRESENCE_STALE_USEC;
        if (presence->state == ALD_PRESENCE_STATE_STALE && view->connected_since != 0)
                return MAX(heard_through_living(presence), view->connected_since) + ALD_PRESENCE_OFFLINE_USEC;
        return UINT64_MAX;
}
