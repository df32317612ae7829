/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/member-private.h"
#include "state/store/clock.h"

/* All nodes learn of a revocation at the same time, but should not all reconnect at the same time. */
#define RECONNECT_SPREAD_MS 2000

static void on_record(const AldUpdate *update, void *userdata)
{
        AldMember *member = userdata;

        ald_handover_record(member->setup.handover, update);
}

static void on_presence(AldClusterNode *node, void *userdata)
{
        AldMember *member = userdata;

        ald_subscriber_note_presence(member->subscriber);
        ald_handover_presence(member->setup.handover, &node->id);
        if (node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                ald_announcer_unforget(member->announcer, &node->id);
}

static void on_dropped(const AldId *id, void *userdata)
{
        AldMember *member = userdata;

        ald_handover_drop(member->setup.handover, id);
}

static void on_forgotten(AldClusterNode *node, void *userdata)
{
        AldMember *member = userdata;

        ald_handover_forget(member->setup.handover, &node->id);
}

/* While the state service is away a request would be useless; once it is back, everything is requested
 * anyway. */
static void on_missed(AldClusterNode *node, void *userdata)
{
        AldMember *member = userdata;

        if (ald_handover_has_state(member->setup.handover) &&
                !ald_subscriber_ask_for(member->subscriber, &node->id))
                ald_handover_note_loss(member->setup.handover);
}

static gboolean on_reconnect(gpointer userdata)
{
        AldMember *member = userdata;

        member->reconnect_timer = 0;
        ald_member_reconnect(member);
        return G_SOURCE_REMOVE;
}

/* Reconnects after a new list, because a revoked node is disconnected by its brokers, but a revoked broker
 * must be disconnected by us. */
static char *on_crl(const AldId *node, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;
        char *reason = NULL;
        int r = 1;

        if (!ald_trust_has_crl(member->setup.trust, received->payload, received->size))
                r = ald_crl_limit_take(member->crl_limit, node, received, g_get_monotonic_time());
        if (r <= 0)
                return r < 0 ? g_strdup("too many lists are waiting") : NULL;
        r = ald_trust_take_crl(member->setup.trust, received->payload, received->size, &reason);
        if (r < 0)
                return reason;
        ald_announcer_heard_crl(member->announcer, received->broker, received->payload, r > 0);
        if (r > 0) {
                ald_trust_check(member->setup.trust, ald_realtime_usec());
                if (member->reconnect_timer == 0)
                        member->reconnect_timer = g_timeout_add(
                                (guint) g_random_int_range(100, RECONNECT_SPREAD_MS), on_reconnect, member);
                ald_member_changed(member);
        }
        return NULL;
}

/* Handles a record whose epoch is so far ahead that no node accepts it, whether it is ours or forged. The
 * broker need not keep it. */
static char *replace_impossible_record(AldMember *member, const AldUpdate *update)
{
        AldUpdate found = *update;

        found.stamp = (AldStamp){ 0 };
        ald_announcer_note_stored(member->announcer, &found);
        ald_own_status_note_forged(member->setup.status, (uint64_t) g_get_monotonic_time());
        ald_member_changed(member);
        return g_strdup("an epoch more than a day in the future");
}

static char *on_own_record(const AldUpdate *update, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;
        uint64_t epoch = ald_own_status_epoch(member->setup.status);

        if (ald_clock_is_ahead(update->stamp.epoch, ald_realtime_usec(), 0))
                return replace_impossible_record(member, update);
        if (!received->retained) {
                ald_own_status_take_record(member->setup.status, update->stamp.epoch, received->broker,
                        received->conn, (uint64_t) g_get_monotonic_time());
                ald_announcer_note_echo(member->announcer, update);
        }
        if (update->stamp.epoch > epoch) { /* our own epoch is unknown (0) at the start */
                ald_stale_own_records_found(member->stale, update);
        } else if (received->retained) {
                ald_announcer_note_stored(member->announcer, update);
        } else if (ald_announcer_is_forged(member->announcer, update)) {
                member->forged_by = received->broker;
                ald_member_changed(member);
                return g_strdup("not published by this machine");
        }
        return NULL;
}

/* A broker may have kept the status of this node from a time when its epoch was newer, and none of its
 * records. */
static void check_past_status(AldMember *member, const AldNodeStatus *status, bool retained)
{
        const AldUpdate update = {
                .node = member->own,
                .kind = ALD_KIND_IDENTITY,
                .key = "",
                .stamp = { .epoch = status->epoch },
        };

        if (retained && !ald_clock_is_ahead(status->epoch, ald_realtime_usec(), 0) &&
                status->epoch > ald_own_status_epoch(member->setup.status))
                ald_stale_own_records_found(member->stale, &update);
}

static void on_own_status(const AldNodeStatus *status, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;
        uint64_t now = (uint64_t) g_get_monotonic_time();
        AldBroker *broker;

        if (ald_clock_is_ahead(MAX(status->epoch, ald_payload_announced(status)), ald_realtime_usec(), 0))
                ald_own_status_note_forged(member->setup.status, now);
        broker = ald_brokers_find(member->brokers, received->broker);
        if (broker && received->retained && ald_status_is(status, ALD_NODE_STATUS_STATE_OFFLINE) &&
                g_str_equal(status->instance, ald_own_status_instance(member->setup.status)))
                ald_broker_note_will(broker);
        switch (ald_own_status_take(
                member->setup.status, status, received->broker, received->conn, received->retained, now)) {
        case ALD_OWN_ALONE:
                check_past_status(member, status, received->retained);
                return;
        case ALD_OWN_DOUBTFUL:
                ald_member_answer_foreign_status(member, false);
                return;
        case ALD_OWN_FORGED:
                ald_member_answer_foreign_status(member, true);
                return;
        case ALD_OWN_DUPLICATE:
                if (broker)
                        ald_member_leave_for_duplicate(member, broker);
                return;
        }
}

static void on_own_forget(const AldId *target, const AldNodeForget *forget, void *userdata)
{
        AldMember *member = userdata;

        ald_announcer_found_forget(member->announcer, target, forget);
}

static void on_due(uint64_t usec, void *userdata)
{
        AldMember *member = userdata;

        ald_presence_timer_set_due(member->presence_timer, usec);
}

const AldReceiverHandler ald_member_receiver_handler = {
        .record = on_record,
        .presence = on_presence,
        .dropped = on_dropped,
        .forgotten = on_forgotten,
        .missed = on_missed,
        .crl = on_crl,
        .own_record = on_own_record,
        .own_status = on_own_status,
        .own_forget = on_own_forget,
        .due = on_due,
};
