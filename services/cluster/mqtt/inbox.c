/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/eventfd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/cluster/mqtt/inbox.h"
#include "services/common/timer.h"

#define TAKE_MAX 256u /* messages in one turn of the loop */

/* Waking the loop costs more than reading a message, so after a message the loop waits this long for more. */
#define GATHER_USEC (5 * 1000)

struct AldInbox {
        GMutex lock;
        AldTopicQueue *queue;
        bool awake; /* the main loop will read by itself and need not be woken */

        int wake;
        guint source;
        AldTimer *timer;
        AldInboxTake take;
        void *userdata;
};

static AldTopicMessage *pop_message(AldInbox *inbox)
{
        AldTopicMessage *message;

        g_mutex_lock(&inbox->lock);
        message = ald_topic_queue_take(inbox->queue);
        g_mutex_unlock(&inbox->lock);
        return message;
}

/* Takes one message at a time, because the handler may make the inbox forget a source and its queued
 * messages. Returns the number of messages. */
static unsigned take_batch(AldInbox *inbox)
{
        for (unsigned n = 0; n < TAKE_MAX; n++) {
                g_autoptr(AldTopicMessage) message = pop_message(inbox);

                if (!message)
                        return n;
                inbox->take(message, inbox->userdata);
        }
        return TAKE_MAX;
}

/* Makes the next message wake the loop. Returns false if messages have arrived meanwhile. */
static bool fall_asleep(AldInbox *inbox)
{
        bool asleep;

        g_mutex_lock(&inbox->lock);
        asleep = ald_topic_queue_is_empty(inbox->queue);
        inbox->awake = !asleep;
        g_mutex_unlock(&inbox->lock);
        return asleep;
}

static void on_timer(void *userdata)
{
        AldInbox *inbox = userdata;
        unsigned n = take_batch(inbox);

        if (n == 0 && fall_asleep(inbox))
                return;
        ald_timer_set(inbox->timer, n == TAKE_MAX ? 0 : g_get_monotonic_time() + GATHER_USEC);
}

static gboolean on_wake(gint fd, GIOCondition condition, gpointer userdata)
{
        eventfd_t unused;

        (void) eventfd_read(fd, &unused);
        on_timer(userdata);
        return G_SOURCE_CONTINUE;
}

AldInbox *ald_inbox_new(uint64_t max_bytes, unsigned max_topics, AldInboxTake take, void *userdata)
{
        int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        AldInbox *inbox;

        if (wake < 0)
                return NULL;
        inbox = g_new0(AldInbox, 1);
        g_mutex_init(&inbox->lock);
        inbox->queue = ald_topic_queue_new(max_bytes, max_topics);
        inbox->wake = wake;
        inbox->timer = ald_timer_new("inbox", on_timer, inbox);
        inbox->source = g_unix_fd_add(wake, G_IO_IN, on_wake, inbox);
        inbox->take = take;
        inbox->userdata = userdata;
        return inbox;
}

void ald_inbox_free(AldInbox *inbox)
{
        if (!inbox)
                return;
        g_source_remove(inbox->source);
        ald_timer_free(inbox->timer);
        ald_fd_close(&inbox->wake);
        ald_topic_queue_free(inbox->queue);
        g_mutex_clear(&inbox->lock);
        g_free(inbox);
}

bool ald_inbox_put(AldInbox *inbox, const AldTopicMessage *message)
{
        bool put;

        g_mutex_lock(&inbox->lock);
        put = ald_topic_queue_put(inbox->queue, message);
        if (put && !inbox->awake) {
                inbox->awake = true;
                (void) eventfd_write(inbox->wake, 1);
        }
        g_mutex_unlock(&inbox->lock);
        return put;
}

bool ald_inbox_is_crowded(AldInbox *inbox)
{
        bool crowded;

        g_mutex_lock(&inbox->lock);
        crowded = ald_topic_queue_is_crowded(inbox->queue);
        g_mutex_unlock(&inbox->lock);
        return crowded;
}

void ald_inbox_forget(AldInbox *inbox, const void *source)
{
        g_mutex_lock(&inbox->lock);
        ald_topic_queue_forget(inbox->queue, source);
        g_mutex_unlock(&inbox->lock);
}

uint64_t ald_inbox_dropped(AldInbox *inbox)
{
        uint64_t dropped;

        g_mutex_lock(&inbox->lock);
        dropped = ald_topic_queue_dropped(inbox->queue);
        g_mutex_unlock(&inbox->lock);
        return dropped;
}
