/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "common/excerpt.h"
#include "record/figure-text.h"
#include "services/cluster/peers/receiver-private.h"
#include "state/store/clock.h"

/* So often refusals are logged, of one node and of all. */
#define NODE_LOG_USEC (UINT64_C(60) * G_USEC_PER_SEC)
#define LOG_USEC (UINT64_C(2) * G_USEC_PER_SEC)

/* One message on its way through. */
typedef struct Passing {
        AldReceiver *receiver;
        const AldReceived *received;
        AldTopic topic;
        AldClusterNode *node; /* NULL if it is under our own id */
        uint64_t now, real;
} Passing;

static void log_refusal(Passing *passing, const char *reason)
{
        AldReceiver *receiver = passing->receiver;
        AldClusterNode *node = passing->node;
        char id[ALD_ID_STRING_SIZE];

        if (receiver->logged != 0 && passing->now - receiver->logged < LOG_USEC)
                return;
        if (node && node->logged != 0 && passing->now - node->logged < NODE_LOG_USEC)
                return;
        receiver->logged = passing->now;
        if (node)
                node->logged = passing->now;
        ald_id_format(&passing->topic.node, id);
        g_log_structured(G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "ALIDADE_NODE", id, "MESSAGE",
                "Refused a message under the id of node %s: %s (%" G_GUINT64_FORMAT " refused so far)", id,
                reason, receiver->refused);
}

/* Takes the reason. */
static void refuse(Passing *passing, char *reason)
{
        passing->receiver->refused++;
        log_refusal(passing, reason);
        if (!passing->node) {
                passing->receiver->refused_own += ald_id_equal(&passing->topic.node, &passing->receiver->own);
                g_free(reason);
                return;
        }
        passing->node->refused++;
        g_free(passing->node->problem);
        passing->node->problem = reason;
}

/* Forgotten, or left on the broker by a node that is long gone. */
static bool is_left_behind(const Passing *passing, const AldUpdate *update)
{
        const AldReceiver *receiver = passing->receiver;

        if (passing->node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                return false;
        if (ald_node_hides(passing->node, &update->stamp))
                return true;
        return passing->real > receiver->expiry_usec &&
               update->updated_usec < passing->real - receiver->expiry_usec;
}

/* An impossible time is refused, no matter which node sends it: it would outrank everything that the node
 * sends later. While our own clock is not set, the time may be right, and is checked again once the clock is
 * set. */
static bool refuse_time(Passing *passing, const char *field, uint64_t usec)
{
        AldReceiver *receiver = passing->receiver;

        if (!ald_receiver_is_ahead(receiver, usec, passing->now, passing->real))
                return false;
        passing->node->too_new = passing->node->too_new == 0 ? usec : MIN(passing->node->too_new, usec);
        if (ald_clock_is_set(passing->real))
                refuse(passing, g_strdup_printf("%s more than a day in the future", field));
        return true;
}

static void take_other_record(Passing *passing, const AldUpdate *update)
{
        AldReceiver *receiver = passing->receiver;
        AldClusterNode *node = passing->node;

        if (refuse_time(passing, "an epoch", update->stamp.epoch) ||
                refuse_time(passing, "an update time", update->updated_usec))
                return;
        if (update->stamp.epoch < node->announced)
                return;
        if (is_left_behind(passing, update)) {
                node->missed = true;
                return;
        }
        ald_node_take_stamp(node, &update->stamp);
        node->is_forgotten = false;
        receiver->handler->record(update, receiver->userdata);
}

static void take_record(Passing *passing)
{
        AldReceiver *receiver = passing->receiver;
        const AldReceived *received = passing->received;
        const AldTopic *topic = &passing->topic;
        g_autoptr(AldRecord) record = NULL;
        char *reason = NULL;
        AldUpdate update;

        if (passing->node && ald_kinds[topic->kind].is_link &&
                !ald_node_may_have_link(passing->node, topic->kind, topic->key)) {
                refuse(passing, g_strdup_printf("more than %u links", ALD_NODE_LINKS_MAX));
                return;
        }
        if (ald_payload_read_record(topic, received->payload, received->size, &update, &reason) < 0) {
                refuse(passing, g_strdup_printf("%s: %s", ald_kinds[topic->kind].name, reason));
                g_free(reason);
                return;
        }
        record = update.record;
        if (passing->node) {
                take_other_record(passing, &update);
                return;
        }
        reason = receiver->handler->own_record(&update, received, receiver->userdata);
        if (reason)
                refuse(passing, reason);
}

/* Reads a status, a heartbeat or a forget; NULL if it was refused. */
static AldRecord *read_message(Passing *passing, AldKind kind, const char *name)
{
        const AldReceived *received = passing->received;
        g_autofree char *reason = NULL;
        AldRecord *message;

        if (ald_message_parse(
                    kind, received->payload, received->size, ALD_PAYLOAD_SMALL_MAX, &message, &reason) >= 0)
                return message;
        refuse(passing, g_strdup_printf("%s: %s", name, reason));
        return NULL;
}

static void take_other_status(Passing *passing, const AldNodeStatus *status)
{
        const AldReceived *received = passing->received;
        const bool retained = received->retained && passing->receiver->mirroring;
        AldClusterNode *node = passing->node;
        AldNodeStatus taken = *status;
        uint64_t announced = ald_payload_announced(status);

        /* Its state may be true nevertheless. */
        if (refuse_time(passing, "an announced epoch", announced))
                announced = 0;
        if (refuse_time(passing, "an epoch", taken.epoch))
                taken.epoch = 0;
        /* The will was written when the connection began, maybe before all was published. */
        if (!ald_presence_take_status(&node->presence, &taken, retained, received->broker, passing->now) ||
                ald_status_is(&taken, ALD_NODE_STATUS_STATE_OFFLINE))
                return;
        /* A broker may have stored an older one. A live value counts, even if it is lower. */
        if (!received->retained || taken.epoch > node->epoch)
                node->epoch = taken.epoch;
        if (!received->retained || (node->presence.heard == 0 && announced > node->announced))
                node->announced = announced;
}

static void take_status(Passing *passing)
{
        AldReceiver *receiver = passing->receiver;
        g_autoptr(AldRecord) message = read_message(passing, ALD_KIND_NODE_STATUS, "status");
        const AldNodeStatus *status = ald_record_as(message, NODE_STATUS, AldNodeStatus);

        if (!status)
                return;
        if (passing->node)
                take_other_status(passing, status);
        else
                receiver->handler->own_status(status, passing->received, receiver->userdata);
}

static void take_alive(Passing *passing)
{
        g_autoptr(AldRecord) message = NULL;
        const AldNodeAlive *alive;

        if (passing->received->retained || !passing->node)
                return;
        message = read_message(passing, ALD_KIND_NODE_ALIVE, "alive");
        alive = ald_record_as(message, NODE_ALIVE, AldNodeAlive);
        if (!alive)
                return;
        ald_presence_take_clock(&passing->node->presence, alive->sent_usec, passing->real);
        if (passing->receiver->mirroring && alive->records != ALD_ABSENT_UINT64)
                passing->node->missed |= ald_record_gap_state(
                        &passing->node->gap, alive->records, passing->now);
}

static void take_forget(Passing *passing)
{
        AldReceiver *receiver = passing->receiver;
        const AldId *target = &passing->topic.target;
        g_autoptr(AldRecord) message = read_message(passing, ALD_KIND_NODE_FORGET, "forget");
        const AldNodeForget *forget = ald_record_as(message, NODE_FORGET, AldNodeForget);
        char id[ALD_ID_STRING_SIZE];

        if (!forget)
                return;
        if (!passing->node) {
                receiver->handler->own_forget(target, forget, receiver->userdata);
        } else if (!ald_node_may_have_link(passing->node, ALD_KIND_LINK_SOCKET, ald_id_format(target, id))) {
                refuse(passing, g_strdup("forgets too many nodes"));
                return;
        }
        if (ald_id_equal(target, &receiver->own))
                return;
        if (passing->real > receiver->expiry_usec &&
                forget->sent_usec < passing->real - receiver->expiry_usec)
                return;
        ald_receiver_forget(receiver, target, &(AldStamp){ forget->epoch, forget->sequence }, passing->now,
                passing->real);
}

static void take_crl(Passing *passing)
{
        AldReceiver *receiver = passing->receiver;
        char *reason = receiver->handler->crl(&passing->topic.node, passing->received, receiver->userdata);

        if (reason)
                refuse(passing, g_strdup_printf("revocation list: %s", reason));
        g_free(reason);
}

static void dispatch(Passing *passing)
{
        switch (passing->topic.type) {
        case ALD_TOPIC_RECORD:
                take_record(passing);
                return;
        case ALD_TOPIC_STATUS:
                take_status(passing);
                return;
        case ALD_TOPIC_ALIVE:
                take_alive(passing);
                return;
        case ALD_TOPIC_FORGET:
                take_forget(passing);
                return;
        case ALD_TOPIC_CRL:
                take_crl(passing);
                return;
        }
}

/* Of "alidade/1/CLUSTER/NODE/KIND". */
static void pass_over_unknown_kind(const Passing *passing)
{
        g_auto(GStrv) parts = g_strsplit(passing->received->topic, "/", 6);
        g_autofree char *kind = g_strv_length(parts) > 4 ? ald_excerpt(parts[4]) : g_strdup("");
        char id[ALD_ID_STRING_SIZE];

        if (!passing->node)
                return;
        if (passing->node->unknown_kinds++ == 0)
                g_info("Node %s publishes records of a kind that this version does not know: %s",
                        ald_id_format(&passing->topic.node, id), kind);
}

/* What is not worth decoding, or NULL. */
static char *refuse_unread(const Passing *passing, int r)
{
        size_t max = ald_payload_max(r < 0 ? ALD_TOPIC_RECORD : passing->topic.type);
        g_autofree char *rate = NULL;

        if (r == -EPERM)
                return g_strdup("a kind that is never published");
        if (r < 0 && r != -ENOENT)
                return g_strdup("an invalid topic or key");
        if (passing->received->size > max)
                return g_strdup_printf("a payload of more than %zu bytes", max);
        if (!passing->node || ald_node_may_send(passing->node, passing->received->size, passing->now))
                return NULL;
        rate = ald_format_figure(&ald_unit_bytes_per_second, ALD_NODE_RATE_BYTES);
        return g_strdup_printf("more than %u messages per second, or %s", ALD_NODE_RATE, rate);
}

/* What is listened to even if not all is; the rest was on its way when that ended. */
static bool is_heard(const AldReceiver *receiver, const AldTopic *topic)
{
        if (receiver->mirroring || receiver->no_peers)
                return receiver->mirroring;
        return topic->type == ALD_TOPIC_STATUS ||
               (topic->type == ALD_TOPIC_RECORD && ald_kinds[topic->kind].for_peers);
}

/* Of a node that need not be known for it. */
static void take_unheard(Passing *passing, int r)
{
        if (r < 0 || passing->topic.type != ALD_TOPIC_CRL || passing->received->size == 0)
                return;
        if (passing->received->size > ALD_PAYLOAD_CRL_MAX)
                refuse(passing, g_strdup("a revocation list that is too large"));
        else
                take_crl(passing);
}

static bool find_sender(Passing *passing)
{
        AldReceiver *receiver = passing->receiver;
        const AldId *id = &passing->topic.node;

        if (ald_id_equal(id, &receiver->own))
                return true;
        passing->node = ald_nodes_get(receiver->nodes, id, passing->now, passing->real);
        return passing->node;
}

void ald_receiver_take(AldReceiver *receiver, const AldReceived *received, uint64_t now, uint64_t real)
{
        Passing passing = { .receiver = receiver, .received = received, .now = now, .real = real };
        char *reason;
        int r;

        ald_receiver_note_stop(receiver, now);
        ald_receiver_note_clock(receiver, now, real);
        r = ald_topic_parse(received->topic, receiver->cluster, &passing.topic);
        if (r == -ENOMSG) {
                refuse(&passing, g_strdup("a topic without a node"));
                return;
        }
        if (!ald_id_equal(&passing.topic.node, &receiver->own) &&
                (r < 0 ? !receiver->mirroring : !is_heard(receiver, &passing.topic))) {
                take_unheard(&passing, r);
                return;
        }
        if (!find_sender(&passing)) {
                refuse(&passing, g_strdup_printf("more than %u nodes", ALD_NODES_MAX));
                return;
        }
        /* A status shows by itself whether the node is alive: brokers publish wills for dead ones. */
        if (passing.node && !received->retained && (r < 0 || passing.topic.type != ALD_TOPIC_STATUS)) {
                ald_presence_heard(&passing.node->presence, received->broker, now);
                ald_receiver_update_node(receiver, passing.node, now, real);
        }
        reason = refuse_unread(&passing, r);
        if (!reason && passing.node && (r == -ENOENT || passing.topic.type == ALD_TOPIC_RECORD))
                ald_record_gap_take(&passing.node->gap, received->topic, received->size == 0);
        if (reason)
                refuse(&passing, reason);
        else if (r == -ENOENT) /* of a newer version */
                pass_over_unknown_kind(&passing);
        else if (received->size > 0) /* else a topic was cleared, which means nothing */
                dispatch(&passing);
        if (passing.node)
                ald_receiver_update_node(receiver, passing.node, now, real);
}
