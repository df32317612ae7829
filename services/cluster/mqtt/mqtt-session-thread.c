/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/eventfd.h>

#include "services/cluster/mqtt/mqtt-session-private.h"

#define ADDRESSES_MAX 8u /* addresses of one name that are tried */

static char *describe_resolver_error(const char *host, int r)
{
        if (strchr(host, '%'))
                return g_strdup("the interface in its address does not exist");
        switch (r) {
        case EAI_NONAME:
        case EAI_NODATA:
                return g_strdup("its name does not resolve");
        case EAI_AGAIN:
        case EAI_FAIL:
                return g_strdup("its name does not resolve: no name server answers");
        case EAI_ADDRFAMILY:
                return g_strdup("its network is unreachable");
        default:
                return g_strdup_printf("its name does not resolve: %s", gai_strerror(r));
        }
}

static char **resolve_host(const char *host, char **ret_reason)
{
        const struct addrinfo hints = {
                .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP
        };
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        struct addrinfo *list = NULL;
        unsigned n = 0;
        int r;

        r = getaddrinfo(host, NULL, &hints, &list);
        if (r != 0) {
                *ret_reason = describe_resolver_error(host, r);
                return NULL;
        }
        for (struct addrinfo *info = list; info && n < ADDRESSES_MAX; info = info->ai_next) {
                char text[NI_MAXHOST];

                if (getnameinfo(info->ai_addr, info->ai_addrlen, text, sizeof(text), NULL, 0,
                            NI_NUMERICHOST) == 0) {
                        g_strv_builder_add(builder, text);
                        n++;
                }
        }
        freeaddrinfo(list);
        return g_strv_builder_end(builder);
}

/* Limits of the send queue, many times more than one node publishes. */
#define OUT_BYTES (UINT64_C(64) * 1024 * 1024)
#define OUT_TOPICS 100000u

static void set_resolved(AldMqttSession *session)
{
        g_mutex_lock(&session->lock);
        session->resolving = false;
        session->resubscribe = true; /* sends the subscriptions once it is connected */
        g_mutex_unlock(&session->lock);
}

/* Tries one address after the other, until one is reached. */
static void try_addresses(AldMqttSession *session, char **hosts, AldSessionOutcome *ret)
{
        for (char **host = hosts; *host; host++) {
                g_free(ret->words);
                ald_mqtt_session_connect(session, *host, ret);
                if (ret->event != ALD_SESSION_UNREACHABLE)
                        return;
        }
}

static void report_end(AldMqttSession *session, const AldSessionOutcome *outcome)
{
        AldTopicMessage message = {
                .event = (int) outcome->event, .topic = outcome->words, .number = outcome->number
        };

        ald_mqtt_session_put(session, &message);
        g_mutex_lock(&session->lock);
        session->ended = true;
        g_cond_broadcast(&session->ended_cond);
        g_mutex_unlock(&session->lock);
}

static gpointer run_session(gpointer data)
{
        AldMqttSession *session = data;
        AldSessionOutcome outcome = { .event = ALD_SESSION_UNREACHABLE };
        g_auto(GStrv) hosts = resolve_host(session->address.host, &outcome.words);

        set_resolved(session);
        if (ald_mqtt_session_is_stopping(session))
                outcome.event = ALD_SESSION_ENDED;
        else if (hosts)
                try_addresses(session, hosts, &outcome);
        report_end(session, &outcome);
        g_free(outcome.words);
        ald_mqtt_session_unref(session);
        return NULL;
}

AldMqttSession *ald_mqtt_session_new(const AldSessionSetup *setup, AldTls *tls)
{
        AldMqttSession *session = g_new0(AldMqttSession, 1);

        g_atomic_ref_count_init(&session->refs);
        g_mutex_init(&session->lock);
        g_cond_init(&session->ended_cond);
        session->inbox = setup->inbox;
        session->source = setup->source;
        session->number = setup->number;
        session->address = *setup->address;
        session->client_id = g_strdup(setup->client_id);
        session->will_topic = g_strdup(setup->will_topic);
        session->will = g_strdup(setup->will);
        session->filters = g_strdupv((char **) setup->filters);
        session->claims = ald_claims_ref(setup->claims);
        session->tls = tls;
        session->out = ald_topic_queue_new(OUT_BYTES, OUT_TOPICS);
        session->asked = g_ptr_array_new_with_free_func(g_free);
        session->resolving = true;
        session->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

        g_atomic_ref_count_inc(&session->refs);
        if (session->wake >= 0)
                session->thread = g_thread_try_new("mqtt", run_session, session, NULL);
        if (!session->thread) {
                ald_mqtt_session_unref(session);
                ald_mqtt_session_unref(session);
                return NULL;
        }
        return session;
}
