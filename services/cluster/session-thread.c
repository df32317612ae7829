/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/session-private.h"

static void set_resolved(AldSession *session)
{
        g_mutex_lock(&session->lock);
        session->resolving = false;
        session->resubscribe = true; /* once it is connected */
        g_mutex_unlock(&session->lock);
}

/* One address after the other, until one leads anywhere. */
static void try_all(AldSession *session, char **hosts, AldSessionOutcome *ret)
{
        for (char **host = hosts; *host; host++) {
                g_free(ret->words);
                ald_session_connect(session, *host, ret);
                if (ret->event != ALD_SESSION_UNREACHABLE)
                        return;
        }
}

static void end(AldSession *session, const AldSessionOutcome *outcome)
{
        AldTopicMessage message = {
                .event = (int) outcome->event, .topic = outcome->words, .number = outcome->number
        };

        ald_session_put(session, &message);
        g_mutex_lock(&session->lock);
        session->ended = true;
        g_cond_broadcast(&session->ended_cond);
        g_mutex_unlock(&session->lock);
}

gpointer ald_session_run(gpointer data)
{
        AldSession *session = data;
        AldSessionOutcome outcome = { .event = ALD_SESSION_UNREACHABLE };
        g_auto(GStrv) hosts = ald_session_resolve(session->address.host, &outcome.words);

        set_resolved(session);
        if (ald_session_is_stopping(session))
                outcome.event = ALD_SESSION_ENDED;
        else if (hosts)
                try_all(session, hosts, &outcome);
        end(session, &outcome);
        g_free(outcome.words);
        ald_session_unref(session);
        return NULL;
}
