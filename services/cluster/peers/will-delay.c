/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/will-delay.h"
#include "services/common/timer.h"

typedef struct Will {
        AldReceived received;
        gint64 due;
} Will;

struct AldWillDelay {
        GQueue *waiting; /* the oldest first */
        AldTimer *timer;
        AldWillDelayTake take;
        void *userdata;
};

static void will_free(Will *will)
{
        g_free((char *) will->received.topic);
        g_free((char *) will->received.payload);
        g_free(will);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Will, will_free)

static void pass_on_first(AldWillDelay *will_delay)
{
        g_autoptr(Will) will = g_queue_pop_head(will_delay->waiting);

        will_delay->take(&will->received, will_delay->userdata);
}

static void on_timer(void *userdata)
{
        AldWillDelay *will_delay = userdata;
        const Will *first;

        while ((first = g_queue_peek_head(will_delay->waiting)) && first->due <= g_get_monotonic_time())
                pass_on_first(will_delay);
        if (first)
                ald_timer_set(will_delay->timer, first->due);
}

AldWillDelay *ald_will_delay_new(AldWillDelayTake take, void *userdata)
{
        AldWillDelay *will_delay = g_new0(AldWillDelay, 1);

        will_delay->waiting = g_queue_new();
        will_delay->timer = ald_timer_new("will-delay", on_timer, will_delay);
        will_delay->take = take;
        will_delay->userdata = userdata;
        return will_delay;
}

void ald_will_delay_free(AldWillDelay *will_delay)
{
        if (!will_delay)
                return;
        g_queue_free_full(will_delay->waiting, (GDestroyNotify) will_free);
        ald_timer_free(will_delay->timer);
        g_free(will_delay);
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

bool ald_will_delay_hold(AldWillDelay *will_delay, const AldReceived *received, const char *cluster,
        const AldId *own, gint64 now)
{
        Will *will;

        if (!is_end_of_another(received, cluster, own))
                return false;
        if (g_queue_get_length(will_delay->waiting) >= ALD_WILL_DELAY_MAX)
                pass_on_first(will_delay);
        will = g_new(Will, 1);
        *will = (Will){ *received, now + ALD_WILL_DELAY_USEC };
        will->received.topic = g_strdup(received->topic);
        will->received.payload = g_strndup(received->payload, received->size);
        if (g_queue_is_empty(will_delay->waiting))
                ald_timer_set(will_delay->timer, will->due);
        g_queue_push_tail(will_delay->waiting, will);
        return true;
}

void ald_will_delay_lose(AldWillDelay *will_delay, uint32_t broker)
{
        GList *next;

        for (GList *link = will_delay->waiting->head; link; link = next) {
                Will *will = link->data;

                next = link->next;
                if (will->received.broker == broker) {
                        will_free(will);
                        g_queue_delete_link(will_delay->waiting, link);
                }
        }
}
