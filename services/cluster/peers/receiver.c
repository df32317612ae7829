/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/excerpt.h"
#include "record/figure-text.h"
#include "services/cluster/peers/receiver-private.h"
#include "state/store/clock.h"

/* Refusals of one node, and of all nodes, are logged at most this often. */
#define NODE_LOG_USEC (UINT64_C(60) * G_USEC_PER_SEC)
#define LOG_USEC (UINT64_C(2) * G_USEC_PER_SEC)

/* A message that is being processed. */
typedef struct Incoming {
        AldReceiver *receiver;
        const AldReceived *received;
        AldTopic topic;
        AldClusterNode *node; /* NULL if it is under our own id */
        uint64_t now, real;
} Incoming;

static void log_refusal(Incoming *incoming, const char *reason)
{
        AldReceiver *receiver = incoming->receiver;
        AldClusterNode *node = incoming->node;
        char id[ALD_ID_STRING_SIZE];

        if (receiver->logged != 0 && incoming->now - receiver->logged < LOG_USEC)
                return;
        if (node && node->logged != 0 && incoming->now - node->logged < NODE_LOG_USEC)
                return;
        receiver->logged = incoming->now;
        if (node)
                node->logged = incoming->now;
        ald_id_format(&incoming->topic.node, id);
        g_log_structured(G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "ALIDADE_NODE", id, "MESSAGE",
                "Refused a message under the id of node %s: %s (%" G_GUINT64_FORMAT " refused so far)", id,
                reason, receiver->refused);
}

/* Counts and logs the refusal of a message. Takes ownership of the reason. */
static void refuse_message(Incoming *incoming, char *reason)
{
        incoming->receiver->refused++;
        log_refusal(incoming, reason);
        if (!incoming->node) {
                incoming->receiver->refused_own += ald_id_equal(
                        &incoming->topic.node, &incoming->receiver->own);
                g_free(reason);
                return;
        }
        incoming->node->refused++;
        g_free(incoming->node->problem);
        incoming->node->problem = reason;
}

/* Returns whether a record of an absent node is hidden, or was left at the broker by a node that is long
 * gone. */
static bool is_outdated(const Incoming *incoming, const AldUpdate *update)
{
        const AldReceiver *receiver = incoming->receiver;

        if (incoming->node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                return false;
        if (ald_node_hides(incoming->node, &update->stamp))
                return true;
        return incoming->real > receiver->expiry_usec &&
               update->updated_usec < incoming->real - receiver->expiry_usec;
}

/* Refuses an impossible time, no matter which node sends it: it would outrank everything that the node sends
 * later. While our own clock is not set, the time may be right, and is checked again once the clock is
 * set. */
static bool refuse_time(Incoming *incoming, const char *field, uint64_t usec)
{
        AldReceiver *receiver = incoming->receiver;

        if (!ald_receiver_is_ahead(receiver, usec, incoming->now, incoming->real))
                return false;
        incoming->node->too_new = incoming->node->too_new == 0 ? usec : MIN(incoming->node->too_new, usec);
        if (ald_clock_is_set(incoming->real))
                refuse_message(incoming, g_strdup_printf("%s more than a day in the future", field));
        return true;
}

static void take_other_record(Incoming *incoming, const AldUpdate *update)
{
        AldReceiver *receiver = incoming->receiver;
        AldClusterNode *node = incoming->node;

        if (refuse_time(incoming, "an epoch", update->stamp.epoch) ||
                refuse_time(incoming, "an update time", update->updated_usec))
                return;
        if (update->stamp.epoch < node->announced)
                return;
        if (is_outdated(incoming, update)) {
                node->missed = true;
                return;
        }
        ald_node_take_stamp(node, &update->stamp);
        node->is_forgotten = false;
        receiver->handler->record(update, receiver->userdata);
}

static void take_record(Incoming *incoming)
{
        AldReceiver *receiver = incoming->receiver;
        const AldReceived *received = incoming->received;
        const AldTopic *topic = &incoming->topic;
        g_autoptr(AldRecord) record = NULL;
        char *reason = NULL;
        AldUpdate update;

        if (incoming->node && ald_kinds[topic->kind].is_link &&
                !ald_node_may_have_link(incoming->node, topic->kind, topic->key)) {
                refuse_message(incoming, g_strdup_printf("more than %u links", ALD_NODE_LINKS_MAX));
                return;
        }
        if (ald_payload_read_record(topic, received->payload, received->size, &update, &reason) < 0) {
                refuse_message(incoming, g_strdup_printf("%s: %s", ald_kinds[topic->kind].name, reason));
                g_free(reason);
                return;
        }
        record = update.record;
        if (incoming->node) {
                take_other_record(incoming, &update);
                return;
        }
        reason = receiver->handler->own_record(&update, received, receiver->userdata);
        if (reason)
                refuse_message(incoming, reason);
}

/* Reads a status, a heartbeat or a forget; returns NULL if it was refused. */
static AldRecord *read_message(Incoming *incoming, AldKind kind, const char *name)
{
        const AldReceived *received = incoming->received;
        g_autofree char *reason = NULL;
        AldRecord *message;

        if (ald_message_parse(
                    kind, received->payload, received->size, ALD_PAYLOAD_SMALL_MAX, &message, &reason) >= 0)
                return message;
        refuse_message(incoming, g_strdup_printf("%s: %s", name, reason));
        return NULL;
}

static void take_other_status(Incoming *incoming, const AldNodeStatus *status)
{
        const AldReceived *received = incoming->received;
        const bool retained = received->retained && incoming->receiver->mirroring;
        AldClusterNode *node = incoming->node;
        AldNodeStatus taken = *status;
        uint64_t announced = ald_payload_announced(status);

        /* The state may be true nevertheless. */
        if (refuse_time(incoming, "an announced epoch", announced))
                announced = 0;
        if (refuse_time(incoming, "an epoch", taken.epoch))
                taken.epoch = 0;
        /* A will was written when the connection began, maybe before all records were published. */
        if (!ald_presence_take_status(&node->presence, &taken, retained, received->broker, incoming->now) ||
                ald_status_is(&taken, ALD_NODE_STATUS_STATE_OFFLINE))
                return;
        /* A stored status may be an older one. A live value counts even if it is lower. */
        if (!received->retained || taken.epoch > node->epoch)
                node->epoch = taken.epoch;
        if (!received->retained || (node->presence.heard == 0 && announced > node->announced))
                node->announced = announced;
}

static void take_status(Incoming *incoming)
{
        AldReceiver *receiver = incoming->receiver;
        g_autoptr(AldRecord) message = read_message(incoming, ALD_KIND_NODE_STATUS, "status");
        const AldNodeStatus *status = ald_record_as(message, NODE_STATUS, AldNodeStatus);

        if (!status)
                return;
        if (incoming->node)
                take_other_status(incoming, status);
        else
                receiver->handler->own_status(status, incoming->received, receiver->userdata);
}

static void take_alive(Incoming *incoming)
{
        g_autoptr(AldRecord) message = NULL;
        const AldNodeAlive *alive;

        if (incoming->received->retained || !incoming->node)
                return;
        message = read_message(incoming, ALD_KIND_NODE_ALIVE, "alive");
        alive = ald_record_as(message, NODE_ALIVE, AldNodeAlive);
        if (!alive)
                return;
        ald_presence_take_clock(&incoming->node->presence, alive->sent_usec, incoming->real);
        if (incoming->receiver->mirroring && alive->records != ALD_ABSENT_UINT64)
                incoming->node->missed |= ald_record_gap_state(
                        &incoming->node->gap, alive->records, incoming->now);
}

static void take_forget(Incoming *incoming)
{
        AldReceiver *receiver = incoming->receiver;
        const AldId *target = &incoming->topic.target;
        g_autoptr(AldRecord) message = read_message(incoming, ALD_KIND_NODE_FORGET, "forget");
        const AldNodeForget *forget = ald_record_as(message, NODE_FORGET, AldNodeForget);
        char id[ALD_ID_STRING_SIZE];

        if (!forget)
                return;
        if (!incoming->node) {
                receiver->handler->own_forget(target, forget, receiver->userdata);
        } else if (!ald_node_may_have_link(incoming->node, ALD_KIND_LINK_SOCKET, ald_id_format(target, id))) {
                refuse_message(incoming, g_strdup("forgets too many nodes"));
                return;
        }
        if (ald_id_equal(target, &receiver->own))
                return;
        if (incoming->real > receiver->expiry_usec &&
                forget->sent_usec < incoming->real - receiver->expiry_usec)
                return;
        ald_receiver_forget(receiver, target, &(AldStamp){ forget->epoch, forget->sequence }, incoming->now,
                incoming->real);
}

static void take_crl(Incoming *incoming)
{
        AldReceiver *receiver = incoming->receiver;
        char *reason = receiver->handler->crl(&incoming->topic.node, incoming->received, receiver->userdata);

        if (reason)
                refuse_message(incoming, g_strdup_printf("revocation list: %s", reason));
        g_free(reason);
}

static void dispatch_message(Incoming *incoming)
{
        switch (incoming->topic.type) {
        case ALD_TOPIC_RECORD:
                take_record(incoming);
                return;
        case ALD_TOPIC_STATUS:
                take_status(incoming);
                return;
        case ALD_TOPIC_ALIVE:
                take_alive(incoming);
                return;
        case ALD_TOPIC_FORGET:
                take_forget(incoming);
                return;
        case ALD_TOPIC_CRL:
                take_crl(incoming);
                return;
        }
}

/* Counts a message of a kind that only a newer version knows. The kind is the fifth part of the topic. */
static void count_unknown_kind(const Incoming *incoming)
{
        g_auto(GStrv) parts = g_strsplit(incoming->received->topic, "/", 6);
        g_autofree char *kind = g_strv_length(parts) > 4 ? ald_excerpt(parts[4]) : g_strdup("");
        char id[ALD_ID_STRING_SIZE];

        if (!incoming->node)
                return;
        if (incoming->node->unknown_kinds++ == 0)
                g_info("Node %s publishes records of a kind that this version does not know: %s",
                        ald_id_format(&incoming->topic.node, id), kind);
}

/* Returns why a message is not worth decoding, or NULL. `r` is the result of ald_topic_parse(). */
static char *check_before_reading(const Incoming *incoming, int r)
{
        size_t max = ald_payload_max(r < 0 ? ALD_TOPIC_RECORD : incoming->topic.type);
        g_autofree char *rate = NULL;

        if (r == -EPERM)
                return g_strdup("a kind that is never published");
        if (r < 0 && r != -ENOENT)
                return g_strdup("an invalid topic or key");
        if (incoming->received->size > max)
                return g_strdup_printf("a payload of more than %zu bytes", max);
        if (!incoming->node || ald_node_may_send(incoming->node, incoming->received->size, incoming->now))
                return NULL;
        rate = ald_format_figure(&ald_unit_bytes_per_second, ALD_NODE_RATE_BYTES);
        return g_strdup_printf("more than %u messages per second, or %s", ALD_NODE_RATE, rate);
}

/* Returns whether messages of other nodes on this topic are subscribed to at present. Others may still arrive
 * for a moment after a subscription has ended. */
static bool is_subscribed(const AldReceiver *receiver, const AldTopic *topic)
{
        if (receiver->mirroring || receiver->no_peers)
                return receiver->mirroring;
        return topic->type == ALD_TOPIC_STATUS ||
               (topic->type == ALD_TOPIC_RECORD && ald_kinds[topic->kind].for_peers);
}

/* Takes a revocation list although nothing else of its node is received; the node need not be known. */
static void take_unsubscribed(Incoming *incoming, int r)
{
        if (r < 0 || incoming->topic.type != ALD_TOPIC_CRL || incoming->received->size == 0)
                return;
        if (incoming->received->size > ALD_PAYLOAD_CRL_MAX)
                refuse_message(incoming, g_strdup("a revocation list that is too large"));
        else
                take_crl(incoming);
}

static bool find_sender(Incoming *incoming)
{
        AldReceiver *receiver = incoming->receiver;
        const AldId *id = &incoming->topic.node;

        if (ald_id_equal(id, &receiver->own))
                return true;
        incoming->node = ald_nodes_get(receiver->nodes, id, incoming->now, incoming->real);
        return incoming->node;
}

void ald_receiver_take(AldReceiver *receiver, const AldReceived *received, uint64_t now, uint64_t real)
{
        Incoming incoming = { .receiver = receiver, .received = received, .now = now, .real = real };
        char *reason;
        int r;

        ald_receiver_note_stop(receiver, now);
        ald_receiver_note_clock(receiver, now, real);
        r = ald_topic_parse(received->topic, receiver->cluster, &incoming.topic);
        if (r == -ENOMSG) {
                refuse_message(&incoming, g_strdup("a topic without a node"));
                return;
        }
        if (!ald_id_equal(&incoming.topic.node, &receiver->own) &&
                (r < 0 ? !receiver->mirroring : !is_subscribed(receiver, &incoming.topic))) {
                take_unsubscribed(&incoming, r);
                return;
        }
        if (!find_sender(&incoming)) {
                refuse_message(&incoming, g_strdup_printf("more than %u nodes", ALD_NODES_MAX));
                return;
        }
        /* A status is excluded, because brokers publish wills for dead nodes; its content shows whether the
         * node is alive. */
        if (incoming.node && !received->retained && (r < 0 || incoming.topic.type != ALD_TOPIC_STATUS)) {
                ald_presence_note_heard(&incoming.node->presence, received->broker, now);
                ald_receiver_update_node(receiver, incoming.node, now, real);
        }
        reason = check_before_reading(&incoming, r);
        if (!reason && incoming.node && (r == -ENOENT || incoming.topic.type == ALD_TOPIC_RECORD))
                ald_record_gap_take(&incoming.node->gap, received->topic, received->size == 0);
        if (reason)
                refuse_message(&incoming, reason);
        else if (r == -ENOENT) /* published by a newer version */
                count_unknown_kind(&incoming);
        else if (received->size > 0) /* an empty payload clears a topic, which has no meaning */
                dispatch_message(&incoming);
        if (incoming.node)
                ald_receiver_update_node(receiver, incoming.node, now, real);
}
