/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/offline-delay.h"
#include "services/common/timer.h"

typedef struct Will {
        AldReceived received;
        gint64 due;
} Will;

struct AldOfflineDelay {
        GQueue *waiting; /* the oldest first */
        AldTimer *timer;
        AldOfflineDelayTake take;
        void *userdata;
};

static void will_free(Will *will)
{
        g_free((char *) will->received.topic);
        g_free((char *) will->received.payload);
        g_free(will);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Will, will_free)

static void pass_on(AldOfflineDelay *offline_delay)
{
        g_autoptr(Will) will = g_queue_pop_head(offline_delay->waiting);

        offline_delay->take(&will->received, offline_delay->userdata);
}

static void on_timer(void *userdata)
{
        AldOfflineDelay *offline_delay = userdata;
        const Will *first;

        while ((first = g_queue_peek_head(offline_delay->waiting)) && first->due <= g_get_monotonic_time())
                pass_on(offline_delay);
        if (first)
                ald_timer_set(offline_delay->timer, first->due);
}

AldOfflineDelay *ald_offline_delay_new(AldOfflineDelayTake take, void *userdata)
{
        AldOfflineDelay *offline_delay = g_new0(AldOfflineDelay, 1);

        offline_delay->waiting = g_queue_new();
        offline_delay->timer = ald_timer_new("offline-delay", on_timer, offline_delay);
        offline_delay->take = take;
        offline_delay->userdata = userdata;
        return offline_delay;
}

void ald_offline_delay_free(AldOfflineDelay *offline_delay)
{
        if (!offline_delay)
                return;
        g_queue_free_full(offline_delay->waiting, (GDestroyNotify) will_free);
        ald_timer_free(offline_delay->timer);
        g_free(offline_delay);
}

static bool is_end_of_another(const AldReceived *received, const char *cluster, const AldId *own)
{
        g_autoptr(AldRecord) status = NULL;
        AldTopic topic;

        return !received->retained && g_str_has_suffix(received->topic, "/status") &&
               ald_topic_parse(received->topic, cluster, &topic) == 0 && topic.type == ALD_TOPIC_STATUS &&
               !ald_id_equal(&topic.node, own) &&
               ald_message_parse(ALD_KIND_NODE_STATUS, received->payload, received->size,
                       ALD_PAYLOAD_SMALL_MAX, &status, NULL) >= 0 &&
               ald_status_is(
                       ald_record_as(status, NODE_STATUS, AldNodeStatus), ALD_NODE_STATUS_STATE_OFFLINE);
}

bool ald_offline_delay_hold(AldOfflineDelay *offline_delay, const AldReceived *received, const char *cluster,
        const AldId *own, gint64 now)
{
        Will *will;

        if (!is_end_of_another(received, cluster, own))
                return false;
        if (g_queue_get_length(offline_delay->waiting) >= ALD_OFFLINE_DELAY_MAX)
                pass_on(offline_delay);
        will = g_new(Will, 1);
        *will = (Will){ *received, now + ALD_OFFLINE_DELAY_USEC };
        will->received.topic = g_strdup(received->topic);
        will->received.payload = g_strndup(received->payload, received->size);
        if (g_queue_is_empty(offline_delay->waiting))
                ald_timer_set(offline_delay->timer, will->due);
        g_queue_push_tail(offline_delay->waiting, will);
        return true;
}

void ald_offline_delay_lose(AldOfflineDelay *offline_delay, uint32_t broker)
{
        GList *next;

        for (GList *link = offline_delay->waiting->head; link; link = next) {
                Will *will = link->data;

                next = link->next;
                if (will->received.broker == broker) {
                        will_free(will);
                        g_queue_delete_link(offline_delay->waiting, link);
                }
        }
}
