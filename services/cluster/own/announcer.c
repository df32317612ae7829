/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/own/announcer.h"
#include "services/common/errors.h"
#include "services/common/timer.h"

#define FORGOTTEN_MAX 4096u
#define ALIVE_USEC G_USEC_PER_SEC
#define ALIVE_LEAST_USEC (10 * G_USEC_PER_SEC)
#define CLOCK_SET_USEC G_USEC_PER_SEC
/* Delay before this node publishes the revocation list, unless the broker turns out to have it by then. */
#define CRL_LEAST_USEC (G_USEC_PER_SEC / 2)
#define CRL_MOST_USEC (5 * G_USEC_PER_SEC / 2)

/* Interval of the check for kinds of which nothing comes back. */
#define UNHEARD_USEC G_USEC_PER_SEC

/* A node that was forgotten on this machine. The broker keeps a forget message for it until the node is back,
 * or for the expiry time. */
typedef struct Forgotten {
        AldId target;
        AldNodeForget forget; /* its time is in µs of CLOCK_REALTIME */
} Forgotten;

struct AldAnnouncer {
        AldAnnouncerSetup setup;
        AldId own;
        char *cluster;
        AldPublisher *publisher;
        GHashTable *forgotten;   /* Forgotten by target */
        gint64 sent, alive_sent; /* CLOCK_MONOTONIC of the last message, and of the last heartbeat */
        gint64 clock_offset;     /* CLOCK_REALTIME minus CLOCK_MONOTONIC at the last heartbeat */
        char *unheard_kinds;     /* kinds of which nothing comes back, or NULL */
        gint64 unheard_checked;  /* CLOCK_MONOTONIC of the last check for them */
        AldTimer *alive_timer, *status_timer, *repeat_timer, *crl_timer;
};

static char *format_topic(const AldAnnouncer *announcer, AldTopicType type, const AldId *target)
{
        AldTopic topic = { .type = type, .node = announcer->own };

        if (target)
                topic.target = *target;
        return ald_topic_format(&topic, announcer->cluster);
}

static void publish_to_first(
        AldAnnouncer *announcer, const char *topic, const char *payload, int qos, bool retain)
{
        int r = ald_brokers_publish(
                announcer->setup.brokers, topic, payload, payload ? strlen(payload) : 0, qos, retain);

        /* Without a broker, everything is published once one is connected; a message that does not fit into
         * the queue is sent again later anyway. */
        if (r >= 0)
                announcer->sent = g_get_monotonic_time();
        else if (r != -ENOTCONN)
                g_info("Cannot publish %s: %s", topic, g_strerror(-r));
}

/* Clears a topic at all brokers, since each that was the first for a while has stored what was published
 * then. */
static void clear_topic(AldAnnouncer *announcer, const char *topic)
{
        AldBrokers *brokers = announcer->setup.brokers;

        for (size_t i = 0; i < ald_brokers_count(brokers); i++)
                (void) ald_broker_publish(ald_brokers_get(brokers, i), topic, NULL, 0, 1, true);
}

static void schedule_alive(AldAnnouncer *announcer)
{
        if (ald_brokers_first(announcer->setup.brokers))
                ald_timer_set(announcer->alive_timer,
                        MIN(announcer->sent + ALIVE_USEC, announcer->alive_sent + ALIVE_LEAST_USEC));
}

static gint64 read_clock_offset(void)
{
        return g_get_real_time() - g_get_monotonic_time();
}

static void publish_alive(AldAnnouncer *announcer)
{
        AldBroker *first = ald_brokers_first(announcer->setup.brokers);
        g_autofree char *topic = NULL, *payload = NULL;
        AldNodeAlive alive;

        if (!first)
                return;
        alive = (AldNodeAlive){
                .sent_usec = (uint64_t) g_get_real_time(),
                .epoch = ald_own_status_epoch(announcer->setup.status),
                .connection = ald_broker_conn(first),
                .records = ald_publisher_count(announcer->publisher),
        };
        topic = format_topic(announcer, ALD_TOPIC_ALIVE, NULL);
        payload = ald_message_format(ALD_KIND_NODE_ALIVE, &alive);
        publish_to_first(announcer, topic, payload, 0, false);
        announcer->sent = announcer->alive_sent = g_get_monotonic_time();
        announcer->clock_offset = read_clock_offset();
        schedule_alive(announcer);
}

static void on_alive(void *userdata)
{
        AldAnnouncer *announcer = userdata;
        gint64 now = g_get_monotonic_time();

        if (now - announcer->sent < ALIVE_USEC && now - announcer->alive_sent < ALIVE_LEAST_USEC)
                schedule_alive(announcer);
        else
                publish_alive(announcer);
}

/* If the clock was set, sends a heartbeat first: other nodes need the new offset to interpret the times of
 * records. */
static void publish_retained(const char *topic, const char *payload, int qos, void *userdata)
{
        AldAnnouncer *announcer = userdata;

        if (ABS(read_clock_offset() - announcer->clock_offset) > CLOCK_SET_USEC)
                publish_alive(announcer);
        if (payload)
                publish_to_first(announcer, topic, payload, qos, true);
        else
                clear_topic(announcer, topic);
}

static void schedule_status(AldAnnouncer *announcer)
{
        uint64_t due = ald_own_status_due(announcer->setup.status, (uint64_t) g_get_monotonic_time());

        ald_timer_set(announcer->status_timer, due == UINT64_MAX ? ALD_TIMER_NEVER : (gint64) due);
}

static void on_status(void *userdata)
{
        AldAnnouncer *announcer = userdata;

        if (ald_own_status_announce(announcer->setup.status, (uint64_t) g_get_monotonic_time())) {
                ald_publisher_announced(announcer->publisher, ald_own_status_epoch(announcer->setup.status));
                ald_announcer_publish_status(announcer, ALD_NODE_STATUS_STATE_ONLINE);
        }
        announcer->setup.changed(announcer->setup.userdata);
        schedule_status(announcer);
}

/* Randomizes the time, since a node that mirrors none receives the status of all. */
static void schedule_repeat(AldAnnouncer *announcer)
{
        gint64 delay = (gint64) (g_random_double_range(0.5, 1) * (double) ALD_PRESENCE_REPEAT_USEC);

        ald_timer_set(announcer->repeat_timer, g_get_monotonic_time() + delay);
}

static void on_repeat(void *userdata)
{
        ald_announcer_publish_status(userdata, ALD_NODE_STATUS_STATE_ONLINE);
        schedule_repeat(userdata);
}

static void on_crl(void *userdata)
{
        AldAnnouncer *announcer = userdata;
        const char *crl = ald_trust_crl(announcer->setup.trust);
        g_autofree char *topic = format_topic(announcer, ALD_TOPIC_CRL, NULL);

        if (crl)
                publish_to_first(announcer, topic, crl, 1, true);
}

AldAnnouncer *ald_announcer_new(const AldAnnouncerSetup *setup)
{
        AldAnnouncer *announcer = g_new0(AldAnnouncer, 1);

        announcer->setup = *setup;
        announcer->own = *setup->own;
        announcer->cluster = g_strdup(setup->cluster);
        announcer->publisher = ald_publisher_new(setup->own, setup->cluster, publish_retained, announcer);
        announcer->forgotten = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, g_free);
        announcer->alive_timer = ald_timer_new("alive", on_alive, announcer);
        announcer->crl_timer = ald_timer_new("crl", on_crl, announcer);
        announcer->status_timer = ald_timer_new("status", on_status, announcer);
        announcer->repeat_timer = ald_timer_new("repeat", on_repeat, announcer);
        schedule_repeat(announcer);
        return announcer;
}

void ald_announcer_free(AldAnnouncer *announcer)
{
        if (!announcer)
                return;
        ald_timer_free(announcer->alive_timer);
        ald_timer_free(announcer->crl_timer);
        ald_timer_free(announcer->status_timer);
        ald_timer_free(announcer->repeat_timer);
        ald_publisher_free(announcer->publisher);
        g_hash_table_unref(announcer->forgotten);
        g_free(announcer->unheard_kinds);
        g_free(announcer->cluster);
        g_free(announcer);
}

void ald_announcer_publish_status_to(AldAnnouncer *announcer, AldBroker *broker, AldNodeStatusState state)
{
        uint64_t conn = ald_broker_conn(broker);
        g_autofree char *topic = format_topic(announcer, ALD_TOPIC_STATUS, NULL);
        g_autofree char *payload = ald_own_status_write(announcer->setup.status, state, conn);
        int r;

        r = ald_broker_publish(broker, topic, payload, strlen(payload), 1, true);
        if (r < 0)
                g_warning("Cannot publish the status of this node to broker %s: %s",
                        ald_broker_address(broker), g_strerror(-r));
        else
                ald_own_status_published(announcer->setup.status, ald_broker_number(broker), conn,
                        (uint64_t) g_get_monotonic_time());
}

void ald_announcer_publish_status(AldAnnouncer *announcer, AldNodeStatusState state)
{
        AldBrokers *brokers = announcer->setup.brokers;

        for (size_t i = 0; i < ald_brokers_count(brokers); i++)
                if (ald_broker_connected(ald_brokers_get(brokers, i)))
                        ald_announcer_publish_status_to(announcer, ald_brokers_get(brokers, i), state);
}

void ald_announcer_connected(AldAnnouncer *announcer, AldBroker *broker)
{
        ald_announcer_publish_status_to(announcer, broker, ALD_NODE_STATUS_STATE_ONLINE);
        schedule_status(announcer);
}

void ald_announcer_disconnected(AldAnnouncer *announcer, AldBroker *broker)
{
        ald_own_status_disconnected(announcer->setup.status, ald_broker_conn(broker));
}

/* Delays publishing by a random time, after which another node has often done it: if each of n nodes
 * published the list, which all nodes receive, n² messages would be sent. */
static void schedule_crl(AldAnnouncer *announcer)
{
        ald_timer_set(announcer->crl_timer,
                g_get_monotonic_time() + g_random_int_range(CRL_LEAST_USEC, CRL_MOST_USEC));
}

void ald_announcer_heard_crl(AldAnnouncer *announcer, uint32_t broker, const char *pem, bool is_news)
{
        const AldBroker *first = ald_brokers_first(announcer->setup.brokers);
        const char *crl = ald_trust_crl(announcer->setup.trust);

        if (!first || !crl)
                return;
        if (broker == ald_broker_number(first) && g_str_equal(pem, crl))
                ald_timer_set(announcer->crl_timer, ALD_TIMER_NEVER);
        else if (is_news)
                schedule_crl(announcer);
}

/* Returns false if there are too many. */
static bool add_forgotten(AldAnnouncer *announcer, const AldId *target, const AldNodeForget *forget)
{
        Forgotten *forgotten = g_hash_table_lookup(announcer->forgotten, target);

        if (!forgotten && g_hash_table_size(announcer->forgotten) >= FORGOTTEN_MAX)
                return false;
        if (!forgotten) {
                forgotten = g_new0(Forgotten, 1);
                forgotten->target = *target;
                g_hash_table_insert(announcer->forgotten, &forgotten->target, forgotten);
        }
        forgotten->forget = *forget;
        return true;
}

static void publish_forget(AldAnnouncer *announcer, const AldId *target, const AldNodeForget *forget)
{
        g_autofree char *topic = format_topic(announcer, ALD_TOPIC_FORGET, target);
        g_autofree char *payload = ald_message_format(ALD_KIND_NODE_FORGET, forget);

        publish_to_first(announcer, topic, payload, 1, true);
}

static void clear_forget(AldAnnouncer *announcer, const AldId *target)
{
        g_autofree char *topic = format_topic(announcer, ALD_TOPIC_FORGET, target);

        clear_topic(announcer, topic);
}

static void update_unheard_kinds(AldAnnouncer *announcer)
{
        g_autofree char *kinds = ald_publisher_unheard_kinds(announcer->publisher);

        announcer->unheard_checked = g_get_monotonic_time();
        if (g_strcmp0(kinds, announcer->unheard_kinds) == 0)
                return;
        if (kinds)
                g_warning("The broker does not pass on records of these kinds: %s", kinds);
        g_free(announcer->unheard_kinds);
        announcer->unheard_kinds = g_steal_pointer(&kinds);
        announcer->setup.changed(announcer->setup.userdata);
}

void ald_announcer_note_echo(AldAnnouncer *announcer, const AldUpdate *update)
{
        ald_publisher_heard(announcer->publisher, update);
        if (g_get_monotonic_time() - announcer->unheard_checked >= UNHEARD_USEC)
                update_unheard_kinds(announcer);
}

const char *ald_announcer_unheard_kinds(const AldAnnouncer *announcer)
{
        return announcer->unheard_kinds;
}

void ald_announcer_first_changed(AldAnnouncer *announcer, AldBroker *first)
{
        GHashTableIter iter;
        gpointer value;

        if (!first) {
                ald_timer_set(announcer->alive_timer, ALD_TIMER_NEVER);
                ald_timer_set(announcer->crl_timer, ALD_TIMER_NEVER);
                return;
        }
        ald_publisher_publish_all(announcer->publisher, (uint64_t) g_get_monotonic_time());
        update_unheard_kinds(announcer);
        g_hash_table_iter_init(&iter, announcer->forgotten);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Forgotten *forgotten = value;

                publish_forget(announcer, &forgotten->target, &forgotten->forget);
        }
        schedule_crl(announcer);
        /* Sends the first heartbeat at once, because other nodes need its clock. */
        announcer->alive_sent = 0;
        schedule_alive(announcer);
}

void ald_announcer_begin(AldAnnouncer *announcer)
{
        ald_publisher_begin(announcer->publisher);
}

static void update_epoch(AldAnnouncer *announcer)
{
        uint64_t epoch = ald_publisher_epoch(announcer->publisher);

        if (!ald_own_status_set_epoch(announcer->setup.status, epoch, (uint64_t) g_get_monotonic_time()))
                return;
        ald_announcer_publish_status(announcer, ALD_NODE_STATUS_STATE_ONLINE);
        schedule_status(announcer);
}

void ald_announcer_record(AldAnnouncer *announcer, const AldUpdate *update)
{
        ald_publisher_put(announcer->publisher, update, (uint64_t) g_get_monotonic_time());
        if (update->stamp.epoch > ald_own_status_epoch(announcer->setup.status))
                update_epoch(announcer);
}

bool ald_announcer_is_behind(const AldAnnouncer *announcer)
{
        return ald_publisher_is_behind(announcer->publisher);
}

AldUpdate ald_announcer_newest(const AldAnnouncer *announcer)
{
        return (AldUpdate){
                .node = announcer->own,
                .kind = ALD_KIND_IDENTITY,
                .key = "",
                .stamp = { ald_publisher_epoch(announcer->publisher),
                        ald_publisher_seq(announcer->publisher) },
        };
}

void ald_announcer_accept_older_epoch(AldAnnouncer *announcer)
{
        ald_publisher_accept_older_epoch(announcer->publisher);
        ald_own_status_accept_older_epoch(announcer->setup.status);
}

void ald_announcer_end(AldAnnouncer *announcer)
{
        ald_publisher_end(announcer->publisher);
}

void ald_announcer_note_stored(AldAnnouncer *announcer, const AldUpdate *update)
{
        ald_publisher_found(announcer->publisher, update->kind, update->key, update->stamp.epoch);
}

bool ald_announcer_is_forged(const AldAnnouncer *announcer, const AldUpdate *update)
{
        return update->stamp.epoch == ald_publisher_epoch(announcer->publisher) &&
               update->stamp.seq > ald_publisher_seq(announcer->publisher);
}

int ald_announcer_forget(AldAnnouncer *announcer, const AldId *target, const AldNodeForget *forget)
{
        if (!add_forgotten(announcer, target, forget))
                return -ALD_E_COMMON_LIMIT;
        publish_forget(announcer, target, forget);
        return 0;
}

void ald_announcer_unforget(AldAnnouncer *announcer, const AldId *target)
{
        if (g_hash_table_remove(announcer->forgotten, target))
                clear_forget(announcer, target);
}

void ald_announcer_found_forget(AldAnnouncer *announcer, const AldId *target, const AldNodeForget *forget)
{
        (void) add_forgotten(announcer, target, forget);
}

void ald_announcer_expire(AldAnnouncer *announcer, uint64_t expiry_usec)
{
        uint64_t real = (uint64_t) g_get_real_time(), before = real > expiry_usec ? real - expiry_usec : 0;
        GHashTableIter iter;
        gpointer value;

        ald_publisher_expire(announcer->publisher, (uint64_t) g_get_monotonic_time(), expiry_usec);
        g_hash_table_iter_init(&iter, announcer->forgotten);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Forgotten *forgotten = value;

                if (forgotten->forget.sent_usec >= before)
                        continue;
                clear_forget(announcer, &forgotten->target);
                g_hash_table_iter_remove(&iter);
        }
}
