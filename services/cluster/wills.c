/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/wills.h"
#include "services/common/timer.h"

typedef struct Will {
        AldReceived received;
        gint64 due;
} Will;

struct AldWills {
        GQueue *waiting; /* the oldest first */
        AldTimer *timer;
        AldWillsTake take;
        void *userdata;
};

static void will_free(Will *will)
{
        g_free((char *) will->received.topic);
        g_free((char *) will->received.payload);
        g_free(will);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Will, will_free)

static void pass_on(AldWills *wills)
{
        g_autoptr(Will) will = g_queue_pop_head(wills->waiting);

        wills->take(&will->received, wills->userdata);
}

static void on_timer(void *userdata)
{
        AldWills *wills = userdata;
        const Will *first;

        while ((first = g_queue_peek_head(wills->waiting)) && first->due <= g_get_monotonic_time())
                pass_on(wills);
        if (first)
                ald_timer_set(wills->timer, first->due);
}

AldWills *ald_wills_new(AldWillsTake take, void *userdata)
{
        AldWills *wills = g_new0(AldWills, 1);

        wills->waiting = g_queue_new();
        wills->timer = ald_timer_new("wills", on_timer, wills);
        wills->take = take;
        wills->userdata = userdata;
        return wills;
}

void ald_wills_free(AldWills *wills)
{
        if (!wills)
                return;
        g_queue_free_full(wills->waiting, (GDestroyNotify) will_free);
        ald_timer_free(wills->timer);
        g_free(wills);
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

bool ald_wills_hold(
        AldWills *wills, const AldReceived *received, const char *cluster, const AldId *own, gint64 now)
{
        Will *will;

        if (!is_end_of_another(received, cluster, own))
                return false;
        if (g_queue_get_length(wills->waiting) >= ALD_WILLS_MAX)
                pass_on(wills);
        will = g_new(Will, 1);
        *will = (Will){ *received, now + ALD_WILLS_USEC };
        will->received.topic = g_strdup(received->topic);
        will->received.payload = g_strndup(received->payload, received->size);
        if (g_queue_is_empty(wills->waiting))
                ald_timer_set(wills->timer, will->due);
        g_queue_push_tail(wills->waiting, will);
        return true;
}

void ald_wills_lose(AldWills *wills, uint32_t broker)
{
        GList *next;

        for (GList *link = wills->waiting->head; link; link = next) {
                Will *will = link->data;

                next = link->next;
                if (will->received.broker == broker) {
                        will_free(will);
                        g_queue_delete_link(wills->waiting, link);
                }
        }
}
