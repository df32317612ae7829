/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <net/if.h>

#include "services/link-probe/probe-answer.h"
#include "services/link-probe/probe-child.h"
#include "services/link-probe/sessions.h"

/* Until it has shown who it is, and in all. The program has limits of its own that are shorter. */
#define STRANGER_MSEC 10000u
#define SESSION_MSEC 60000u

typedef struct Session {
        AldSessions *all;
        AldProbeChild *child;
        char *place;
        char *peer;               /* NULL as long as it has not shown who it is */
        char interface[IFNAMSIZ]; /* that it occupies; empty: none */
        bool refused;             /* it is told to come later */
} Session;

struct AldSessions {
        const AldProgram *program;
        AldCounters *counters;
        const AldSessionsHandler *handler;
        void *userdata;
        GPtrArray *list;
        uint64_t n_refused;
};

static void session_free(gpointer data)
{
        Session *session = data;

        ald_probe_child_free(session->child);
        if (*session->interface)
                ald_counters_release(session->all->counters, session->interface);
        g_free(session->place);
        g_free(session->peer);
        g_free(session);
}

AldSessions *ald_sessions_new(
        const AldProgram *program, AldCounters *counters, const AldSessionsHandler *handler, void *userdata)
{
        AldSessions *sessions = g_new0(AldSessions, 1);

        sessions->program = program;
        sessions->counters = counters;
        sessions->handler = handler;
        sessions->userdata = userdata;
        sessions->list = g_ptr_array_new_with_free_func(session_free);
        return sessions;
}

void ald_sessions_free(AldSessions *sessions)
{
        if (!sessions)
                return;
        g_ptr_array_unref(sessions->list);
        g_free(sessions);
}

static void on_line(const char *line, void *userdata)
{
        Session *session = userdata;

        if (session->peer || ald_probe_report_read(line, &session->peer) < 0)
                return;
        ald_probe_child_set_deadline(session->child, SESSION_MSEC);
        session->all->handler->changed(session->all->userdata);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        Session *session = userdata;
        AldSessions *all = session->all;

        if (!session->peer || session->refused)
                all->n_refused++;
        if (failure && session->peer)
                g_info("The session with %s: the probe %s", session->peer, failure);
        g_ptr_array_remove_fast(all->list, session);
        all->handler->changed(all->userdata);
}

static unsigned count_strangers(const AldSessions *sessions)
{
        unsigned n = 0;

        for (unsigned i = 0; i < sessions->list->len; i++)
                n += ((const Session *) sessions->list->pdata[i])->peer == NULL;
        return n;
}

static unsigned count_from(const AldSessions *sessions, const char *place)
{
        unsigned n = 0;

        for (unsigned i = 0; i < sessions->list->len; i++)
                n += g_str_equal(((const Session *) sessions->list->pdata[i])->place, place);
        return n;
}

unsigned ald_sessions_count(const AldSessions *sessions)
{
        unsigned n = 0;

        for (unsigned i = 0; i < sessions->list->len; i++)
                n += !((const Session *) sessions->list->pdata[i])->refused;
        return n;
}

/* What the other side is told instead of being measured, or NULL. */
static char *refusal_of(
        AldSessions *sessions, const char *interface, const AldNetwork *network, bool *ret_inhibited)
{
        char *reason = sessions->handler->refuse(interface, ret_inhibited, sessions->userdata);

        if (reason)
                return reason;
        *ret_inhibited = false;
        if (ald_sessions_count(sessions) >= sessions->program->config->max_sessions)
                return g_strdup("as many sessions as may be are under way");
        if (*interface && ald_counters_is_occupied(sessions->counters, network, interface))
                return g_strdup_printf("another probe uses %s", interface);
        return NULL;
}

static int spawn(Session *session, int connection, const char *refusal, bool inhibited)
{
        static const AldProbeChildHandler handler = { .line = on_line, .ended = on_ended };
        const AldProgram *program = session->all->program;
        g_autoptr(GPtrArray) arguments = ald_program_arguments(program);

        ald_program_add(arguments, "--port=%u", program->config->port);
        ald_program_add(arguments, "--session-fd=" ALD_PROBE_SESSION_FD);
        ald_program_add(arguments, "--report-fd=" ALD_PROBE_SIDE_FD);
        if (refusal)
                ald_program_add(arguments, "--%s=%s", inhibited ? "inhibited" : "busy", refusal);
        g_ptr_array_add(arguments, NULL);
        return ald_probe_child_new(program->path, (const char *const *) arguments->pdata, connection,
                STRANGER_MSEC, &handler, session, &session->child);
}

int ald_sessions_start(AldSessions *sessions, int connection, const char *place, const char *interface,
        const AldNetwork *network)
{
        g_autofree char *refusal = NULL;
        bool inhibited = false;
        Session *session;
        int r;

        if (count_strangers(sessions) >= ALD_SESSIONS_STRANGERS_MAX ||
                count_from(sessions, place) >= ALD_SESSIONS_PER_PLACE_MAX) {
                sessions->n_refused++;
                return -EUSERS;
        }
        refusal = refusal_of(sessions, interface, network, &inhibited);
        session = g_new0(Session, 1);
        session->all = sessions;
        session->place = g_strdup(place);
        session->refused = refusal != NULL;
        if (!refusal && *interface && ald_counters_occupy(sessions->counters, network, interface) >= 0)
                g_strlcpy(session->interface, interface, sizeof session->interface);
        r = spawn(session, connection, refusal, inhibited);
        if (r < 0) {
                g_warning("Cannot run %s: %s", sessions->program->path, g_strerror(-r));
                session_free(session);
                return r;
        }
        g_ptr_array_add(sessions->list, session);
        sessions->handler->changed(sessions->userdata);
        return 0;
}

void ald_sessions_end_all(AldSessions *sessions, const char *reason)
{
        for (unsigned i = 0; i < sessions->list->len; i++) {
                Session *session = sessions->list->pdata[i];

                if (!session->refused)
                        ald_probe_child_end(session->child, reason);
        }
}

void ald_sessions_foreach_peer(
        const AldSessions *sessions, void (*found)(const char *peer, void *userdata), void *userdata)
{
        for (unsigned i = 0; i < sessions->list->len; i++) {
                const Session *session = sessions->list->pdata[i];

                if (session->peer && !session->refused)
                        found(session->peer, userdata);
        }
}

uint64_t ald_sessions_refused(const AldSessions *sessions)
{
        return sessions->n_refused;
}
