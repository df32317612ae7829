/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "common/fd.h"
#include "services/cluster/mqtt/mqtt-session-private.h"

#define ASKED_MAX 64u

void ald_mqtt_session_unref(AldMqttSession *session)
{
        if (!g_atomic_ref_count_dec(&session->refs))
                return;
        ald_tls_free(session->tls);
        ald_claims_unref(session->claims);
        ald_topic_queue_free(session->out);
        g_ptr_array_unref(session->asked);
        ald_fd_close(&session->wake);
        g_strfreev(session->filters);
        g_free(session->client_id);
        g_free(session->will_topic);
        g_free(session->will);
        g_cond_clear(&session->ended_cond);
        g_mutex_clear(&session->lock);
        g_free(session);
}

static void wake_thread(AldMqttSession *session)
{
        (void) eventfd_write(session->wake, 1);
}

/* Clears the inbox only the first time: later, messages of this source may belong to the next session. */
void ald_mqtt_session_leave(AldMqttSession *session)
{
        bool silent;

        g_mutex_lock(&session->lock);
        silent = session->silent;
        session->silent = session->stopping = true;
        g_mutex_unlock(&session->lock);
        if (silent)
                return;
        wake_thread(session);
        ald_inbox_forget(session->inbox, session->source);
}

bool ald_mqtt_session_has_ended(AldMqttSession *session)
{
        bool ended;

        g_mutex_lock(&session->lock);
        ended = session->ended;
        g_mutex_unlock(&session->lock);
        return ended;
}

void ald_mqtt_session_free(AldMqttSession *session)
{
        if (!session)
                return;
        ald_mqtt_session_leave(session);
        if (session->thread && ald_mqtt_session_has_ended(session))
                g_thread_join(session->thread);
        else if (session->thread)
                g_thread_unref(session->thread);
        ald_mqtt_session_unref(session);
}

int ald_mqtt_session_publish(AldMqttSession *session, const AldTopicMessage *message)
{
        bool put, first;

        g_mutex_lock(&session->lock);
        first = ald_topic_queue_is_empty(session->out);
        put = ald_topic_queue_put(session->out, message);
        g_mutex_unlock(&session->lock);
        if (first)
                wake_thread(session);
        return put ? 0 : -ENOBUFS;
}

void ald_mqtt_session_subscribe(AldMqttSession *session, const char *const *filters, bool again)
{
        g_mutex_lock(&session->lock);
        g_strfreev(session->filters);
        session->filters = g_strdupv((char **) filters);
        session->resubscribe = true;
        session->again = session->again || again;
        g_mutex_unlock(&session->lock);
        wake_thread(session);
}

bool ald_mqtt_session_ask_again(AldMqttSession *session, const char *filter)
{
        bool put;

        g_mutex_lock(&session->lock);
        put = session->asked->len < ASKED_MAX;
        if (put)
                g_ptr_array_add(session->asked, g_strdup(filter));
        g_mutex_unlock(&session->lock);
        if (put)
                wake_thread(session);
        return put;
}

void ald_mqtt_session_await_end(AldMqttSession *session, gint64 deadline_usec)
{
        bool ended;

        g_mutex_lock(&session->lock);
        while (!session->ended && !session->resolving)
                if (!g_cond_wait_until(&session->ended_cond, &session->lock, deadline_usec))
                        break;
        ended = session->ended;
        g_mutex_unlock(&session->lock);
        if (ended && session->thread)
                g_thread_join(g_steal_pointer(&session->thread));
}

bool ald_mqtt_session_is_stopping(AldMqttSession *session)
{
        bool stopping;

        g_mutex_lock(&session->lock);
        stopping = session->stopping;
        g_mutex_unlock(&session->lock);
        return stopping;
}

char **ald_mqtt_session_take_filters(AldMqttSession *session, bool *ret_again)
{
        char **filters = NULL;

        g_mutex_lock(&session->lock);
        if (session->resubscribe)
                filters = session->filters ? g_strdupv(session->filters) : g_new0(char *, 1);
        if (filters && session->again) /* renewing all subscriptions includes what was asked for */
                g_ptr_array_set_size(session->asked, 0);
        *ret_again = session->again;
        session->resubscribe = session->again = false;
        g_mutex_unlock(&session->lock);
        return filters;
}

char **ald_mqtt_session_take_asked(AldMqttSession *session)
{
        char **asked = NULL;

        g_mutex_lock(&session->lock);
        if (session->asked->len > 0) {
                g_ptr_array_add(session->asked, NULL);
                asked = (char **) g_ptr_array_steal(session->asked, NULL);
        }
        g_mutex_unlock(&session->lock);
        return asked;
}

AldTopicMessage *ald_mqtt_session_take_message(AldMqttSession *session)
{
        AldTopicMessage *message;

        g_mutex_lock(&session->lock);
        message = ald_topic_queue_take(session->out);
        g_mutex_unlock(&session->lock);
        return message;
}

bool ald_mqtt_session_has_message(AldMqttSession *session)
{
        bool has;

        g_mutex_lock(&session->lock);
        has = !ald_topic_queue_is_empty(session->out);
        g_mutex_unlock(&session->lock);
        return has;
}

/* Returns whether this is a stored message of this node. These are queued apart from those that it publishes
 * now, which come back as live ones. */
static bool is_own_stored(const AldMqttSession *session, const AldTopicMessage *message)
{
        return message->retained && session->client_id && strstr(message->topic, session->client_id);
}

/* Holds the lock, since after ald_mqtt_session_leave() the inbox may have been freed; so does
 * ald_mqtt_session_put(). */
bool ald_mqtt_session_may_put(AldMqttSession *session)
{
        bool may;

        g_mutex_lock(&session->lock);
        may = session->silent || !ald_inbox_is_crowded(session->inbox);
        g_mutex_unlock(&session->lock);
        return may;
}

void ald_mqtt_session_put(AldMqttSession *session, AldTopicMessage *message)
{
        message->source = session->source;
        message->group = session->number * 2 + is_own_stored(session, message);
        g_mutex_lock(&session->lock);
        if (!session->silent)
                (void) ald_inbox_put(session->inbox, message);
        g_mutex_unlock(&session->lock);
}
