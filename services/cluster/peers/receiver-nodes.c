/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/receiver-private.h"
#include "state/store/clock.h"

/* Smaller changes are the normal corrections of a synchronized clock. */
#define CLOCK_SET_USEC ((int64_t) G_USEC_PER_SEC)
/* Comparing the clocks of all nodes is expensive. */
#define MAJORITY_USEC (UINT64_C(1) * G_USEC_PER_SEC)
/* The brokers are asked for the records of a node at most this often, even if it comes and goes. */
#define ASK_AGAIN_USEC (UINT64_C(10) * G_USEC_PER_SEC)
/* A timer that expires later than this shows that the process was stopped. */
#define STOPPED_USEC (UINT64_C(2) * G_USEC_PER_SEC)

AldReceiver *ald_receiver_new(
        const AldId *own, const char *cluster, const AldReceiverHandler *handler, void *userdata)
{
        AldReceiver *receiver = g_new0(AldReceiver, 1);

        receiver->own = *own;
        receiver->cluster = g_strdup(cluster);
        receiver->nodes = ald_nodes_new();
        receiver->expiry_usec = UINT64_MAX;
        receiver->mirroring = true;
        receiver->due = UINT64_MAX;
        receiver->handler = handler;
        receiver->userdata = userdata;
        return receiver;
}

void ald_receiver_free(AldReceiver *receiver)
{
        if (!receiver)
                return;
        ald_nodes_free(receiver->nodes);
        g_free(receiver->cluster);
        g_free(receiver);
}

void ald_receiver_set_expiry(AldReceiver *receiver, uint64_t expiry_usec)
{
        receiver->expiry_usec = expiry_usec;
}

static gboolean drop_node(AldClusterNode *node, void *userdata)
{
        const AldReceiver *receiver = userdata;

        receiver->handler->dropped(&node->id, receiver->userdata);
        return TRUE;
}

void ald_receiver_set_peers(AldReceiver *receiver, bool heard)
{
        receiver->no_peers = !heard;
}

void ald_receiver_set_mirroring(AldReceiver *receiver, bool mirroring, uint64_t now, uint64_t real)
{
        receiver->mirroring = mirroring;
        receiver->view.by_status = !mirroring;
        if (!mirroring)
                ald_nodes_foreach(receiver->nodes, drop_node, receiver);
        ald_receiver_update_presences(receiver, now, real);
}

AldNodes *ald_receiver_nodes(AldReceiver *receiver)
{
        return receiver->nodes;
}

uint64_t ald_receiver_refused(const AldReceiver *receiver)
{
        return receiver->refused;
}

uint64_t ald_receiver_refused_own(const AldReceiver *receiver)
{
        return receiver->refused_own;
}

static void report_change(AldReceiver *receiver, AldClusterNode *node)
{
        if (ald_node_note_change(node))
                receiver->handler->presence(node, receiver->userdata);
}

static gboolean report_change_of_node(AldClusterNode *node, void *userdata)
{
        report_change(userdata, node);
        return FALSE;
}

static void request_missed(AldReceiver *receiver, AldClusterNode *node, uint64_t now)
{
        if (!node->missed || (node->asked_again != 0 && now - node->asked_again < ASK_AGAIN_USEC))
                return;
        node->missed = false;
        node->asked_again = now;
        receiver->handler->missed(node, receiver->userdata);
}

static gboolean add_offset(AldClusterNode *node, void *userdata)
{
        GArray *offsets = userdata;
        int64_t offset = ald_presence_clock_offset(&node->presence);

        if (offset != INT64_MIN && node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                g_array_append_val(offsets, offset);
        return FALSE;
}

bool ald_receiver_is_ahead(AldReceiver *receiver, uint64_t usec, uint64_t now, uint64_t real)
{
        g_autoptr(GArray) offsets = NULL;

        if (!ald_clock_is_ahead(usec, real, 0))
                return false;
        if (receiver->majority_seen == 0 || now - receiver->majority_seen >= MAJORITY_USEC) {
                offsets = g_array_new(FALSE, FALSE, sizeof(int64_t));
                ald_nodes_foreach(receiver->nodes, add_offset, offsets);
                receiver->majority = ald_clock_majority((int64_t *) (void *) offsets->data, offsets->len);
                receiver->majority_seen = now;
        }
        return ald_clock_is_ahead(usec, real, receiver->majority);
}

/* Requests again what was refused as too far ahead, once our clock was set, or most other nodes have shown
 * that it is behind. Until then the brokers keep it. */
static void recheck_too_new(AldReceiver *receiver, AldClusterNode *node, uint64_t now, uint64_t real)
{
        if (node->too_new == 0 || ald_receiver_is_ahead(receiver, node->too_new, now, real))
                return;
        node->too_new = 0;
        node->missed = true;
}

static void forget_node(AldReceiver *receiver, AldClusterNode *node)
{
        node->forgotten = node->to_forget;
        node->to_forget = (AldStamp){ 0 };
        if (!ald_node_hides(node, &node->newest))
                return;
        /* The node may come back with older records, after its clock was set back; it announces them again
         * then. */
        node->announced = 0;
        node->is_forgotten = true;
        node->missed = true;
        receiver->handler->forgotten(node, receiver->userdata);
}

void ald_receiver_note_stop(AldReceiver *receiver, uint64_t now)
{
        if (now <= receiver->due || now - receiver->due <= STOPPED_USEC)
                return;
        receiver->due = now;
        if (receiver->view.connected_since != 0)
                receiver->view.connected_since = now;
}

/* Schedules the next update of presences. While time can change a node, the timer expires at least every 3 s,
 * so that even a short stop of this process is noticed. */
static void set_due(AldReceiver *receiver, const AldClusterNode *node, uint64_t now)
{
        uint64_t due = ald_presence_due(&node->presence, &receiver->view);

        if (due != UINT64_MAX && !receiver->view.by_status)
                due = MIN(due, now + ALD_PRESENCE_STALE_USEC);
        if (due >= receiver->due)
                return;
        receiver->due = due;
        receiver->handler->due(due, receiver->userdata);
}

bool ald_receiver_may_forget(const AldReceiver *receiver, const AldClusterNode *node, uint64_t now)
{
        return ald_node_may_be_forgotten(node, &receiver->view, now);
}

/* This also ends the forgetting of a node that is heard. */
void ald_receiver_update_node(AldReceiver *receiver, AldClusterNode *node, uint64_t now, uint64_t real)
{
        ald_presence_update(&node->presence, &receiver->view, now, real);
        if (node->presence.state == ALD_PRESENCE_STATE_ONLINE) {
                node->forgotten = node->to_forget = (AldStamp){ 0 };
                node->is_forgotten = node->forgotten_here = false;
                recheck_too_new(receiver, node, now, real);
                request_missed(receiver, node, now);
        } else if (node->to_forget.epoch != 0 && ald_receiver_may_forget(receiver, node, now)) {
                forget_node(receiver, node);
        }
        set_due(receiver, node, now);
        report_change(receiver, node);
}

void ald_receiver_forget(
        AldReceiver *receiver, const AldId *target, const AldStamp *stamp, uint64_t now, uint64_t real)
{
        AldClusterNode *node;

        ald_receiver_note_stop(receiver, now);
        node = ald_nodes_get_hearsay(receiver->nodes, target, now, real);
        if (!node || node->presence.state == ALD_PRESENCE_STATE_ONLINE || ald_node_hides(node, stamp))
                return;
        if (ald_stamp_compare(stamp, &node->to_forget) > 0)
                node->to_forget = *stamp;
        ald_receiver_update_node(receiver, node, now, real);
}

static gboolean shift_clock(AldClusterNode *node, void *userdata)
{
        const int64_t *moved = userdata;

        ald_presence_shift_clock(&node->presence, *moved);
        return FALSE;
}

void ald_receiver_note_clock(AldReceiver *receiver, uint64_t now, uint64_t real)
{
        int64_t clock = (int64_t) real - (int64_t) now, moved = clock - receiver->clock;
        bool was_set = receiver->clock != 0 && ABS(moved) > CLOCK_SET_USEC;

        receiver->clock = clock;
        if (!was_set)
                return;
        ald_nodes_foreach(receiver->nodes, shift_clock, &moved);
        ald_nodes_foreach(receiver->nodes, report_change_of_node, receiver);
}

typedef struct PresenceUpdate {
        AldReceiver *receiver;
        uint64_t now, real;
} PresenceUpdate;

static gboolean update_node(AldClusterNode *node, void *userdata)
{
        const PresenceUpdate *update = userdata;

        ald_receiver_update_node(update->receiver, node, update->now, update->real);
        return FALSE;
}

void ald_receiver_update_presences(AldReceiver *receiver, uint64_t now, uint64_t real)
{
        PresenceUpdate update = { receiver, now, real };

        ald_receiver_note_stop(receiver, now);
        ald_receiver_note_clock(receiver, now, real);
        receiver->due = UINT64_MAX;
        ald_nodes_foreach(receiver->nodes, update_node, &update);
}

static gboolean lose_broker(AldClusterNode *node, void *userdata)
{
        const uint32_t *broker = userdata;

        ald_presence_forget_broker(&node->presence, *broker);
        return FALSE;
}

void ald_receiver_lose(AldReceiver *receiver, uint32_t broker, uint64_t now, uint64_t real)
{
        ald_nodes_foreach(receiver->nodes, lose_broker, &broker);
        ald_receiver_update_presences(receiver, now, real);
}

void ald_receiver_set_connected(AldReceiver *receiver, bool connected, uint64_t now, uint64_t real)
{
        if (connected == (receiver->view.connected_since != 0))
                return;
        receiver->view.connected_since = connected ? now : 0;
        ald_receiver_update_presences(receiver, now, real);
}

static gboolean expire_node(AldClusterNode *node, void *userdata)
{
        const PresenceUpdate *update = userdata;

        ald_node_forget_links(node);
        if (node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                return FALSE;
        return update->now - MAX(node->presence.heard, node->first_heard) > update->receiver->expiry_usec;
}

void ald_receiver_expire(AldReceiver *receiver, uint64_t now)
{
        PresenceUpdate update = { .receiver = receiver, .now = now };

        ald_nodes_foreach(receiver->nodes, expire_node, &update);
}

static gboolean clear_gap(AldClusterNode *node, void *userdata)
{
        ald_record_gap_clear(&node->gap);
        return FALSE;
}

void ald_receiver_expect_all(AldReceiver *receiver)
{
        ald_nodes_foreach(receiver->nodes, clear_gap, NULL);
}

static gboolean report_again(AldClusterNode *node, void *userdata)
{
        node->reported = node->reported_forgotten = node->changed = false;
        report_change(userdata, node);
        return FALSE;
}

void ald_receiver_report_all_again(AldReceiver *receiver)
{
        ald_nodes_foreach(receiver->nodes, report_again, receiver);
}
