/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/eventfd.h>

#include <glib-unix.h>

#include "services/cluster/inbox.h"
#include "services/common/fd.h"

#define TAKE_MAX 256u /* messages in one turn of the loop */

struct AldInbox {
        GMutex lock;
        AldTopicQueue *queue;
        bool woken; /* the main loop is, and need not be again */

        int wake;
        guint source;
        AldInboxTake take;
        void *userdata;
};

/* One at a time: the handler may forget a source, and with it what waits. */
static AldTopicMessage *take_one(AldInbox *inbox)
{
        AldTopicMessage *message;
        eventfd_t unused;

        g_mutex_lock(&inbox->lock);
        message = ald_topic_queue_take(inbox->queue);
        if (!message) {
                inbox->woken = false;
                (void) eventfd_read(inbox->wake, &unused);
        }
        g_mutex_unlock(&inbox->lock);
        return message;
}

static gboolean on_wake(gint fd, GIOCondition condition, gpointer userdata)
{
        AldInbox *inbox = userdata;

        for (unsigned i = 0; i < TAKE_MAX; i++) {
                g_autoptr(AldTopicMessage) message = take_one(inbox);

                if (!message)
                        break;
                inbox->take(message, inbox->userdata);
        }
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
        if (put && !inbox->woken) {
                inbox->woken = true;
                (void) eventfd_write(inbox->wake, 1);
        }
        g_mutex_unlock(&inbox->lock);
        return put;
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
