/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/voice.h"
#include "services/common/timer.h"

#define ALIVE_USEC G_USEC_PER_SEC
#define ALIVE_LEAST_USEC (10 * G_USEC_PER_SEC)
#define CLOCK_SET_USEC G_USEC_PER_SEC
/* When we say the revocation list, unless the broker shows by then that it has it. */
#define CRL_LEAST_USEC (G_USEC_PER_SEC / 2)
#define CRL_MOST_USEC (5 * G_USEC_PER_SEC / 2)

struct AldVoice {
        AldVoiceSetup setup;
        AldId own;
        char *cluster;
        AldPublisher *publisher;
        AldForgets *forgets;
        gint64 sent, alive_sent; /* CLOCK_MONOTONIC of the last of anything, and of the last heartbeat */
        gint64 clock;            /* how far CLOCK_REALTIME was ahead of that then */
        AldTimer *alive_timer, *status_timer, *repeat_timer, *crl_timer;
};

static char *topic_of(const AldVoice *voice, AldTopicType type, const AldId *target)
{
        AldTopic topic = { .type = type, .node = voice->own };

        if (target)
                topic.target = *target;
        return ald_topic_format(&topic, voice->cluster);
}

static void publish(AldVoice *voice, const char *topic, const char *payload, int qos, bool retain)
{
        int r = ald_brokers_publish(
                voice->setup.brokers, topic, payload, payload ? strlen(payload) : 0, qos, retain);

        /* Without a broker it is published when one is connected; what does not fit is sent again anyway. */
        if (r >= 0)
                voice->sent = g_get_monotonic_time();
        else if (r != -ENOTCONN)
                g_info("Cannot publish %s: %s", topic, g_strerror(-r));
}

/* From all brokers: one that was the first for a while keeps what was said to it then. */
static void clear(AldVoice *voice, const char *topic)
{
        AldBrokers *brokers = voice->setup.brokers;

        for (size_t i = 0; i < ald_brokers_count(brokers); i++)
                (void) ald_broker_publish(ald_brokers_get(brokers, i), topic, NULL, 0, 1, true);
}

static void schedule_alive(AldVoice *voice)
{
        if (ald_brokers_first(voice->setup.brokers))
                ald_timer_set(voice->alive_timer,
                        MIN(voice->sent + ALIVE_USEC, voice->alive_sent + ALIVE_LEAST_USEC));
}

static gint64 read_clock(void)
{
        return g_get_real_time() - g_get_monotonic_time();
}

static void say_alive(AldVoice *voice)
{
        AldBroker *first = ald_brokers_first(voice->setup.brokers);
        g_autofree char *topic = NULL, *payload = NULL;
        AldNodeAlive alive;

        if (!first)
                return;
        alive = (AldNodeAlive){
                .sent_usec = (uint64_t) g_get_real_time(),
                .epoch = ald_own_status_epoch(voice->setup.status),
                .connection = ald_broker_conn(first),
        };
        topic = topic_of(voice, ALD_TOPIC_ALIVE, NULL);
        payload = ald_message_format(ALD_KIND_NODE_ALIVE, &alive);
        publish(voice, topic, payload, 0, false);
        voice->sent = voice->alive_sent = g_get_monotonic_time();
        voice->clock = read_clock();
        schedule_alive(voice);
}

static void on_alive(void *userdata)
{
        AldVoice *voice = userdata;
        gint64 now = g_get_monotonic_time();

        if (now - voice->sent < ALIVE_USEC && now - voice->alive_sent < ALIVE_LEAST_USEC)
                schedule_alive(voice);
        else
                say_alive(voice);
}

/* Once the clock was set, others must know of it to make sense of the times of records. */
static void publish_retained(const char *topic, const char *payload, int qos, void *userdata)
{
        AldVoice *voice = userdata;

        if (ABS(read_clock() - voice->clock) > CLOCK_SET_USEC)
                say_alive(voice);
        if (payload)
                publish(voice, topic, payload, qos, true);
        else
                clear(voice, topic);
}

static void schedule_status(AldVoice *voice)
{
        uint64_t due = ald_own_status_due(voice->setup.status, (uint64_t) g_get_monotonic_time());

        ald_timer_set(voice->status_timer, due == UINT64_MAX ? ALD_TIMER_NEVER : (gint64) due);
}

static void on_status(void *userdata)
{
        AldVoice *voice = userdata;

        if (ald_own_status_announce(voice->setup.status, (uint64_t) g_get_monotonic_time())) {
                ald_publisher_announced(voice->publisher, ald_own_status_epoch(voice->setup.status));
                ald_voice_say(voice, ALD_NODE_STATUS_STATE_ONLINE);
        }
        voice->setup.changed(voice->setup.userdata);
        schedule_status(voice);
}

/* Each node at a time of its own: whoever mirrors nobody hears all of them. */
static void schedule_repeat(AldVoice *voice)
{
        gint64 delay = (gint64) (g_random_double_range(0.5, 1) * (double) ALD_PRESENCE_REPEAT_USEC);

        ald_timer_set(voice->repeat_timer, g_get_monotonic_time() + delay);
}

static void on_repeat(void *userdata)
{
        ald_voice_say(userdata, ALD_NODE_STATUS_STATE_ONLINE);
        schedule_repeat(userdata);
}

static void on_crl(void *userdata)
{
        AldVoice *voice = userdata;
        const char *crl = voice->setup.crl(voice->setup.userdata);
        g_autofree char *topic = topic_of(voice, ALD_TOPIC_CRL, NULL);

        if (crl)
                publish(voice, topic, crl, 1, true);
}

AldVoice *ald_voice_new(const AldVoiceSetup *setup)
{
        AldVoice *voice = g_new0(AldVoice, 1);

        voice->setup = *setup;
        voice->own = *setup->own;
        voice->cluster = g_strdup(setup->cluster);
        voice->publisher = ald_publisher_new(setup->own, setup->cluster, publish_retained, voice);
        voice->forgets = ald_forgets_new();
        voice->alive_timer = ald_timer_new("alive", on_alive, voice);
        voice->crl_timer = ald_timer_new("crl", on_crl, voice);
        voice->status_timer = ald_timer_new("status", on_status, voice);
        voice->repeat_timer = ald_timer_new("repeat", on_repeat, voice);
        schedule_repeat(voice);
        return voice;
}

void ald_voice_free(AldVoice *voice)
{
        if (!voice)
                return;
        ald_timer_free(voice->alive_timer);
        ald_timer_free(voice->crl_timer);
        ald_timer_free(voice->status_timer);
        ald_timer_free(voice->repeat_timer);
        ald_publisher_free(voice->publisher);
        ald_forgets_free(voice->forgets);
        g_free(voice->cluster);
        g_free(voice);
}

void ald_voice_say_to(AldVoice *voice, AldBroker *broker, AldNodeStatusState said)
{
        uint64_t conn = ald_broker_conn(broker);
        g_autofree char *topic = topic_of(voice, ALD_TOPIC_STATUS, NULL);
        g_autofree char *payload = ald_own_status_write(voice->setup.status, said, conn);
        int r;

        r = ald_broker_publish(broker, topic, payload, strlen(payload), 1, true);
        if (r < 0)
                g_warning("Cannot publish the status of this node to broker %s: %s",
                        ald_broker_address(broker), g_strerror(-r));
        else
                ald_own_status_published(voice->setup.status, ald_broker_number(broker), conn,
                        (uint64_t) g_get_monotonic_time());
}

void ald_voice_say(AldVoice *voice, AldNodeStatusState said)
{
        AldBrokers *brokers = voice->setup.brokers;

        for (size_t i = 0; i < ald_brokers_count(brokers); i++)
                if (ald_broker_connected(ald_brokers_get(brokers, i)))
                        ald_voice_say_to(voice, ald_brokers_get(brokers, i), said);
}

void ald_voice_connected(AldVoice *voice, AldBroker *broker)
{
        ald_voice_say_to(voice, broker, ALD_NODE_STATUS_STATE_ONLINE);
        schedule_status(voice);
}

void ald_voice_disconnected(AldVoice *voice, AldBroker *broker)
{
        ald_own_status_disconnected(voice->setup.status, ald_broker_conn(broker));
}

/* All nodes hear each list, so one that each of them says costs the square of them. */
static void schedule_crl(AldVoice *voice)
{
        ald_timer_set(
                voice->crl_timer, g_get_monotonic_time() + g_random_int_range(CRL_LEAST_USEC, CRL_MOST_USEC));
}

void ald_voice_heard_crl(AldVoice *voice, uint32_t broker, const char *pem, bool is_news)
{
        const AldBroker *first = ald_brokers_first(voice->setup.brokers);
        const char *crl = voice->setup.crl(voice->setup.userdata);

        if (!first || !crl)
                return;
        if (broker == ald_broker_number(first) && g_str_equal(pem, crl))
                ald_timer_set(voice->crl_timer, ALD_TIMER_NEVER);
        else if (is_news)
                schedule_crl(voice);
}

static void say_forget(const AldId *target, const AldNodeForget *forget, void *userdata)
{
        AldVoice *voice = userdata;
        g_autofree char *topic = topic_of(voice, ALD_TOPIC_FORGET, target);
        g_autofree char *payload = ald_message_format(ALD_KIND_NODE_FORGET, forget);

        publish(voice, topic, payload, 1, true);
}

static void clear_forget(const AldId *target, const AldNodeForget *forget, void *userdata)
{
        AldVoice *voice = userdata;
        g_autofree char *topic = topic_of(voice, ALD_TOPIC_FORGET, target);

        clear(voice, topic);
}

void ald_voice_first_changed(AldVoice *voice, AldBroker *first)
{
        if (!first) {
                ald_timer_set(voice->alive_timer, ALD_TIMER_NEVER);
                ald_timer_set(voice->crl_timer, ALD_TIMER_NEVER);
                return;
        }
        ald_publisher_publish_all(voice->publisher);
        ald_forgets_foreach(voice->forgets, say_forget, voice);
        schedule_crl(voice);
        /* The first heartbeat follows at once, for the sake of its clock. */
        voice->alive_sent = 0;
        schedule_alive(voice);
}

void ald_voice_begin(AldVoice *voice)
{
        ald_publisher_begin(voice->publisher);
}

static void note_epoch(AldVoice *voice)
{
        uint64_t epoch = ald_publisher_epoch(voice->publisher);

        if (!ald_own_status_set_epoch(voice->setup.status, epoch, (uint64_t) g_get_monotonic_time()))
                return;
        ald_voice_say(voice, ALD_NODE_STATUS_STATE_ONLINE);
        schedule_status(voice);
}

void ald_voice_record(AldVoice *voice, const AldUpdate *update)
{
        ald_publisher_put(voice->publisher, update, (uint64_t) g_get_monotonic_time());
        if (update->stamp.epoch > ald_own_status_epoch(voice->setup.status))
                note_epoch(voice);
}

bool ald_voice_is_behind(const AldVoice *voice)
{
        return ald_publisher_is_behind(voice->publisher);
}

AldUpdate ald_voice_newest(const AldVoice *voice)
{
        return (AldUpdate){
                .node = voice->own,
                .kind = ALD_KIND_IDENTITY,
                .key = "",
                .stamp = { ald_publisher_epoch(voice->publisher), ald_publisher_seq(voice->publisher) },
        };
}

void ald_voice_go_back(AldVoice *voice)
{
        ald_publisher_go_back(voice->publisher);
        ald_own_status_go_back(voice->setup.status);
}

void ald_voice_end(AldVoice *voice)
{
        ald_publisher_end(voice->publisher);
}

void ald_voice_found(AldVoice *voice, const AldUpdate *update)
{
        ald_publisher_found(voice->publisher, update->kind, update->key, update->stamp.epoch);
}

bool ald_voice_is_forged(const AldVoice *voice, const AldUpdate *update)
{
        return update->stamp.epoch == ald_publisher_epoch(voice->publisher) &&
               update->stamp.seq > ald_publisher_seq(voice->publisher);
}

int ald_voice_forget(AldVoice *voice, const AldId *target, const AldNodeForget *forget)
{
        if (!ald_forgets_add(voice->forgets, target, forget))
                return -ENOSPC;
        say_forget(target, forget, voice);
        return 0;
}

void ald_voice_unforget(AldVoice *voice, const AldId *target)
{
        if (ald_forgets_remove(voice->forgets, target))
                clear_forget(target, NULL, voice);
}

void ald_voice_found_forget(AldVoice *voice, const AldId *target, const AldNodeForget *forget)
{
        ald_forgets_add(voice->forgets, target, forget);
}

void ald_voice_expire(AldVoice *voice, uint64_t expiry_usec)
{
        uint64_t real = (uint64_t) g_get_real_time();

        ald_publisher_expire(voice->publisher, (uint64_t) g_get_monotonic_time(), expiry_usec);
        ald_forgets_expire(voice->forgets, real > expiry_usec ? real - expiry_usec : 0, clear_forget, voice);
}
