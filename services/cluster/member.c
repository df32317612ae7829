/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/crl-turns.h"
#include "services/cluster/discovery-bus.h"
#include "services/cluster/listening.h"
#include "services/cluster/member.h"
#include "services/cluster/past.h"
#include "services/cluster/wills.h"
#include "services/common/timer.h"

#define EXPIRE_SECONDS 600u
/* The nodes of a cluster hear of a revocation all at once, and do not all connect anew at once. */
#define RECONNECT_SPREAD_MS 2000
/* Judging all nodes is cheap, but not for each of them alone. */
#define JUDGE_USEC (G_USEC_PER_SEC / 4)
#define STOPPED_USEC (2 * G_USEC_PER_SEC)

#define REFUSED_PUBLISH                                                                                \
        "it passed on nothing of what this machine publishes, as where its access rules do not grant " \
        "the topics of the own id"

/* Only who is spoken for can notice; to all others it is what this machine says. */
#define FORGED                                                                                          \
        "somebody else publishes under the id of this machine: the access rules of the broker are not " \
        "those that alidadectl cluster wrote"

struct AldMember {
        AldMemberSetup setup;
        AldId own;
        char *cluster;
        uint64_t expiry_usec;
        AldBrokers *brokers;
        AldVoice *voice;
        AldReceiver *receiver;
        AldListening *listening;
        AldWills *wills;
        AldCrlTurns *crl_turns;
        AldPast *past;
        AldDiscovery *discovery;
        uint64_t connected_since; /* CLOCK_MONOTONIC; 0: no broker is connected */
        uint32_t forged_by;       /* the broker through which somebody else spoke under our id, or 0 */
        bool mirroring, has_peers;
        uint64_t dropped; /* by the inbox, as last seen */
        AldTimer *judge_timer;
        uint64_t judge_due; /* UINT64_MAX: never */
        guint expire_timer, reconnect_timer;
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static void changed(AldMember *member)
{
        member->setup.changed(member->setup.userdata);
}

/* Each message puts off when its node would fall silent, so the timer only ever comes too early. */
static void schedule_judge(AldMember *member, uint64_t due)
{
        if (due >= member->judge_due)
                return;
        member->judge_due = MAX(due, now_usec() + JUDGE_USEC);
        ald_timer_set(member->judge_timer, (gint64) member->judge_due);
}

static AldPresenceView view_of(const AldMember *member)
{
        return (AldPresenceView){
                .connected_since = member->connected_since,
                .by_status = !member->mirroring,
        };
}

static void judge_all(AldMember *member)
{
        member->judge_due = UINT64_MAX;
        schedule_judge(member, ald_receiver_judge(member->receiver, now_usec(), ald_realtime_usec()));
}

static void update_view(AldMember *member)
{
        const AldPresenceView view = view_of(member);

        ald_receiver_set_view(member->receiver, &view, now_usec(), ald_realtime_usec());
        judge_all(member);
}

/* While this process was stopped nobody was silent: it did not listen. */
static void on_judge(void *userdata)
{
        AldMember *member = userdata;
        uint64_t now = now_usec();
        bool stopped = now > member->judge_due && now - member->judge_due > STOPPED_USEC;

        if (stopped && member->connected_since != 0) {
                member->connected_since = now;
                update_view(member);
        } else {
                judge_all(member);
        }
}

static AldTls *make_tls(const char *name, char **ret_problem, void *userdata)
{
        AldMember *member = userdata;

        return ald_trust_make_tls(member->setup.trust, name, ret_problem);
}

static char *make_will(uint64_t conn, void *userdata)
{
        AldMember *member = userdata;

        return ald_own_status_write(member->setup.status, ALD_PRESENCE_SAYS_OFFLINE, conn);
}

static void on_connected(AldBroker *broker, void *userdata)
{
        AldMember *member = userdata;

        ald_voice_connected(member->voice, broker);
        if (member->connected_since == 0) {
                member->connected_since = now_usec();
                update_view(member);
        }
        changed(member);
}

static void on_disconnected(AldBroker *broker, const char *reason, void *userdata)
{
        AldMember *member = userdata;

        if (member->forged_by == ald_broker_number(broker))
                member->forged_by = 0;
        ald_wills_lose(member->wills, ald_broker_number(broker));
        ald_voice_disconnected(member->voice, broker);
        if (ald_brokers_count_connected(member->brokers) == 0 && member->connected_since != 0) {
                member->connected_since = 0;
                update_view(member);
        }
        changed(member);
}

static void on_first_changed(AldBroker *first, void *userdata)
{
        AldMember *member = userdata;

        ald_voice_first_changed(member->voice, first);
        changed(member);
}

/* What the inbox had no room for is asked for again, once there is room. */
static void note_dropped(AldMember *member)
{
        uint64_t dropped = ald_brokers_dropped(member->brokers);

        if (dropped != member->dropped)
                ald_handover_note_loss(member->setup.handover);
        member->dropped = dropped;
}

static void on_received(const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;

        ald_receiver_take(member->receiver, received, now_usec(), ald_realtime_usec());
}

static void on_message(AldBroker *broker, const AldBrokerMessage *message, void *userdata)
{
        AldMember *member = userdata;
        const AldReceived received = {
                .broker = ald_broker_number(broker),
                .conn = ald_broker_conn(broker),
                .topic = message->topic,
                .payload = message->payload,
                .size = message->size,
                .retained = message->retained,
        };

        if (!ald_wills_hold(member->wills, &received, member->cluster, &member->own, g_get_monotonic_time()))
                on_received(&received, member);
        note_dropped(member);
}

static void on_brokers_changed(void *userdata)
{
        changed(userdata);
}

static const AldBrokersHandler brokers_handler = {
        .make_tls = make_tls,
        .make_will = make_will,
        .connected = on_connected,
        .disconnected = on_disconnected,
        .first_changed = on_first_changed,
        .message = on_message,
        .changed = on_brokers_changed,
};

static void on_record(const AldUpdate *update, void *userdata)
{
        AldMember *member = userdata;

        ald_handover_record(member->setup.handover, update);
}

static void on_presence(AldClusterNode *node, void *userdata)
{
        AldMember *member = userdata;
        const AldPresenceView view = view_of(member);

        ald_listening_note_presence(member->listening);
        ald_handover_presence(member->setup.handover, &node->id);
        if (node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                ald_voice_unforget(member->voice, &node->id);
        schedule_judge(member, ald_presence_due(&node->presence, &view));
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

/* As long as the state service is away this is in vain, and once it is there all is asked for. */
static void on_missed(AldClusterNode *node, void *userdata)
{
        AldMember *member = userdata;

        if (ald_handover_has_state(member->setup.handover) &&
                !ald_listening_ask_for(member->listening, &node->id))
                ald_handover_note_loss(member->setup.handover);
}

static gboolean on_reconnect(gpointer userdata)
{
        AldMember *member = userdata;

        member->reconnect_timer = 0;
        ald_member_reconnect(member);
        return G_SOURCE_REMOVE;
}

/* Whoever is revoked is cut off: a broker whose certificate was, by us. */
static char *on_crl(const AldId *node, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;
        char *reason = NULL;
        int r = 1;

        if (!ald_trust_has_crl(member->setup.trust, received->payload, received->size))
                r = ald_crl_turns_take(member->crl_turns, node, received, g_get_monotonic_time());
        if (r <= 0)
                return r < 0 ? g_strdup("too much waits to be read") : NULL;
        r = ald_trust_take_crl(member->setup.trust, received->payload, received->size, &reason);
        if (r < 0)
                return reason;
        ald_voice_heard_crl(member->voice, received->broker, received->payload, r > 0);
        if (r > 0) {
                ald_trust_check(member->setup.trust, ald_realtime_usec());
                if (member->reconnect_timer == 0)
                        member->reconnect_timer = g_timeout_add(
                                (guint) g_random_int_range(100, RECONNECT_SPREAD_MS), on_reconnect, member);
                changed(member);
        }
        return NULL;
}

/* The state service then goes beyond it. */
static bool on_past(const AldUpdate *update, void *userdata)
{
        AldMember *member = userdata;

        if (!ald_handover_has_state(member->setup.handover))
                return false;
        ald_handover_record(member->setup.handover, update);
        return true;
}

static char *on_own_record(const AldUpdate *update, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;
        uint64_t epoch = ald_own_status_epoch(member->setup.status);

        if (update->stamp.epoch > epoch) { /* which is not known yet at first */
                ald_past_found(member->past, update);
        } else if (received->retained) {
                ald_voice_found(member->voice, update);
        } else if (ald_voice_is_forged(member->voice, update)) {
                member->forged_by = received->broker;
                changed(member);
                return g_strdup("this machine has not said it");
        }
        return NULL;
}

static void on_own_status(const AldStatus *status, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;

        switch (ald_own_status_take(
                member->setup.status, status, received->broker, received->conn, received->retained)) {
        case ALD_OWN_ALONE:
                return;
        case ALD_OWN_DOUBTFUL:
                ald_voice_say(member->voice, ALD_PRESENCE_SAYS_ONLINE);
                return;
        case ALD_OWN_DUPLICATE:
                ald_voice_say(member->voice, ALD_PRESENCE_SAYS_DUPLICATE);
                ald_brokers_suspend(member->brokers);
                member->setup.duplicate(member->setup.userdata);
                return;
        }
}

static void on_own_forget(const AldId *target, const AldForget *forget, void *userdata)
{
        AldMember *member = userdata;

        ald_voice_found_forget(member->voice, target, forget);
}

static const AldReceiverHandler receiver_handler = {
        .record = on_record,
        .presence = on_presence,
        .dropped = on_dropped,
        .forgotten = on_forgotten,
        .missed = on_missed,
        .crl = on_crl,
        .own_record = on_own_record,
        .own_status = on_own_status,
        .own_forget = on_own_forget,
};

static const char *get_crl(void *userdata)
{
        AldMember *member = userdata;

        return ald_trust_crl(member->setup.trust);
}

static void on_voice_changed(void *userdata)
{
        changed(userdata);
}

static gboolean on_expire(gpointer userdata)
{
        AldMember *member = userdata;

        ald_voice_expire(member->voice, member->expiry_usec);
        ald_receiver_expire(member->receiver, now_usec());
        ald_trust_check(member->setup.trust, ald_realtime_usec());
        ald_trust_remind_broker(member->setup.trust);
        changed(member);
        return G_SOURCE_CONTINUE;
}

static void on_discovered(const AldAddress *addresses, size_t n, void *userdata)
{
        AldMember *member = userdata;

        ald_brokers_discover(member->brokers, addresses, n);
}

static int set_discovery(AldMember *member, bool discovery)
{
        if (!discovery && member->discovery)
                ald_brokers_discover(member->brokers, NULL, 0);
        if (!discovery)
                g_clear_pointer(&member->discovery, ald_discovery_free);
        if (!discovery || member->discovery)
                return 0;
        return ald_discovery_new(
                member->setup.service, member->cluster, on_discovered, member, &member->discovery);
}

int ald_member_new(const AldMemberSetup *setup, const AldClusterConfig *config, AldMember **ret)
{
        AldMember *member = g_new0(AldMember, 1);
        const AldTopic topic = { .type = ALD_TOPIC_STATUS, .node = *setup->own };
        g_autofree char *will_topic = ald_topic_format(&topic, config->name);
        char id[ALD_ID_STRING_SIZE];

        *ret = member;
        member->setup = *setup;
        member->own = *setup->own;
        member->cluster = g_strdup(config->name);
        member->has_peers = config->mirror != ALD_MIRROR_NONE;
        member->brokers = ald_brokers_new(&brokers_handler, member);
        if (!member->brokers)
                return -ENOMEM;
        const AldVoiceSetup voice = { setup->own, config->name, member->brokers, setup->status, get_crl,
                on_voice_changed, member };
        member->voice = ald_voice_new(&voice);
        member->receiver = ald_receiver_new(setup->own, config->name, &receiver_handler, member);
        member->listening = ald_listening_new(
                setup->own, config->name, member->brokers, ald_receiver_nodes(member->receiver));
        member->wills = ald_wills_new(on_received, member);
        member->crl_turns = ald_crl_turns_new(on_received, member);
        member->past = ald_past_new(on_past, member);
        member->judge_timer = ald_timer_new("presence", on_judge, member);
        member->judge_due = UINT64_MAX;
        member->expire_timer = g_timeout_add_seconds(EXPIRE_SECONDS, on_expire, member);
        ald_brokers_set_identity(member->brokers, ald_id_format(setup->own, id), will_topic);
        return 0;
}

void ald_member_free(AldMember *member)
{
        if (!member)
                return;
        g_clear_handle_id(&member->expire_timer, g_source_remove);
        g_clear_handle_id(&member->reconnect_timer, g_source_remove);
        ald_discovery_free(member->discovery);
        if (member->voice)
                ald_voice_say(member->voice, ALD_PRESENCE_SAYS_OFFLINE);
        ald_brokers_free(member->brokers);
        ald_voice_free(member->voice);
        ald_wills_free(member->wills);
        ald_crl_turns_free(member->crl_turns);
        ald_past_free(member->past);
        ald_listening_free(member->listening);
        ald_receiver_free(member->receiver);
        g_clear_pointer(&member->judge_timer, ald_timer_free);
        g_free(member->cluster);
        g_free(member);
}

void ald_member_configure(AldMember *member, const AldClusterConfig *config)
{
        int r;

        member->expiry_usec = config->expiry_usec;
        if (member->has_peers != (config->mirror != ALD_MIRROR_NONE)) {
                member->has_peers = !member->has_peers;
                ald_member_set_mirroring(member, member->mirroring);
        }
        ald_receiver_set_expiry(member->receiver, config->expiry_usec);
        ald_brokers_configure(
                member->brokers, (const AldAddress *) config->brokers->data, config->brokers->len);
        r = set_discovery(member, config->discovery);
        if (r < 0)
                g_warning("Cannot look for brokers by Avahi: %s", g_strerror(-r));
        update_view(member);
}

static AldListeningScope scope_of(const AldMember *member)
{
        if (member->mirroring)
                return ALD_LISTENING_TO_ALL;
        return member->has_peers ? ALD_LISTENING_TO_PEERS : ALD_LISTENING_TO_OWN;
}

void ald_member_set_mirroring(AldMember *member, bool mirroring)
{
        member->mirroring = mirroring;
        if (!mirroring)
                ald_handover_clear(member->setup.handover);
        ald_receiver_set_peers(member->receiver, member->has_peers);
        ald_receiver_set_mirroring(member->receiver, mirroring);
        ald_listening_set_scope(member->listening, scope_of(member));
        update_view(member);
}

void ald_member_drop_nodes(AldMember *member)
{
        ald_receiver_set_mirroring(member->receiver, false);
}

void ald_member_reconnect(AldMember *member)
{
        ald_brokers_reconnect(member->brokers);
}

void ald_member_ask_for_all(AldMember *member)
{
        ald_listening_ask_for_all(member->listening);
}

void ald_member_ask_for_own(AldMember *member)
{
        if (!ald_listening_ask_for(member->listening, &member->own))
                ald_handover_note_loss(member->setup.handover);
}

void ald_member_tell_all(AldMember *member)
{
        ald_receiver_tell_all(member->receiver);
}

int ald_member_forget(AldMember *member, const AldId *target)
{
        AldClusterNode *node = ald_nodes_find(ald_receiver_nodes(member->receiver), target);
        AldForget forget = { .usec = ald_realtime_usec() };
        int r;

        if (ald_id_equal(target, &member->own))
                return -EBUSY;
        if (!node || node->is_forgotten)
                return -ENOENT;
        if (node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                return -EBUSY;
        if (!ald_brokers_first(member->brokers))
                return -ENOTCONN;
        forget.stamp = node->newest;
        /* Where none of its records was seen: all of its last epoch. */
        if (forget.stamp.epoch < MAX(node->presence.epoch, 1))
                forget.stamp = (AldStamp){ MAX(node->presence.epoch, 1), ALD_INTEGER_MAX };
        r = ald_voice_forget(member->voice, target, &forget);
        if (r >= 0)
                ald_receiver_forget(member->receiver, target, &forget.stamp, now_usec(), forget.usec);
        return r;
}

AldVoice *ald_member_voice(AldMember *member)
{
        return member->voice;
}

AldBrokers *ald_member_brokers(AldMember *member)
{
        return member->brokers;
}

AldReceiver *ald_member_receiver(AldMember *member)
{
        return member->receiver;
}

char *ald_member_broker_problem(AldMember *member, AldBroker *broker)
{
        const char *problem = ald_broker_problem(broker);

        if (member->forged_by == ald_broker_number(broker))
                return g_strdup(FORGED);
        if (!ald_own_status_is_lost(member->setup.status, ald_broker_number(broker), now_usec()))
                return g_strdup(problem);
        return problem ? g_strdup_printf("%s; before, " REFUSED_PUBLISH, problem) : g_strdup(REFUSED_PUBLISH);
}
