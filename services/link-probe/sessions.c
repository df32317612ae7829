/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/probe-answer.h"
#include "services/link-probe/probe-child.h"
#include "services/link-probe/sessions.h"
#include "services/link-probe/strangers.h"

/* Until it has shown who it is, and in all. The program has limits of its own that are shorter. */
#define STRANGER_MSEC 10000u
#define SESSION_MSEC 60000u

typedef struct Session {
        AldSessions *all;
        AldProbeChild *child;
        AldTransport transport;
        char *place;
        char *peer;                    /* NULL as long as it has not shown who it is */
        char port[ALD_PORT_NAME_SIZE]; /* over which it measures: an interface or an RDMA port; or empty */
        bool occupies;                 /* that one */
        bool refused;                  /* it is told to come later */
} Session;

struct AldSessions {
        const AldProgram *program;
        AldCounters *counters;
        const AldSessionsHandler *handler;
        void *userdata;
        GPtrArray *list;
        AldStrangers *strangers;
        uint64_t n_refused;
};

static void session_free(gpointer data)
{
        Session *session = data;

        ald_probe_child_free(session->child);
        if (session->occupies)
                ald_counters_release(session->all->counters, session->port);
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
        sessions->strangers = ald_strangers_new();
        return sessions;
}

void ald_sessions_free(AldSessions *sessions)
{
        if (!sessions)
                return;
        g_ptr_array_unref(sessions->list);
        ald_strangers_free(sessions->strangers);
        g_free(sessions);
}

static bool is_measuring(const Session *session)
{
        return session->peer && !session->refused;
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
                n += is_measuring(sessions->list->pdata[i]);
        return n;
}

/* What the other side is told instead of being measured, or NULL. */
static char *refusal_of(const Session *session, bool *ret_inhibited)
{
        const AldSessions *sessions = session->all;
        const AldNetwork *network = sessions->handler->network(sessions->userdata);
        char *reason = sessions->handler->refuse(
                session->transport, session->port, ret_inhibited, sessions->userdata);

        if (reason)
                return reason;
        *ret_inhibited = false;
        if (ald_sessions_count(sessions) >= sessions->program->config->max_sessions)
                return g_strdup("as many sessions as may be are under way");
        if (*session->port && ald_counters_is_occupied(sessions->counters, network, session->port))
                return g_strdup_printf("another probe uses %s", session->port);
        return NULL;
}

/* Who it is is known now, so it is time to decide. */
static void admit(Session *session)
{
        AldSessions *all = session->all;
        bool inhibited = false;
        g_autofree char *refusal = refusal_of(session, &inhibited), *line = NULL;

        session->refused = refusal != NULL;
        if (!refusal && *session->port)
                session->occupies = ald_counters_occupy(all->counters, all->handler->network(all->userdata),
                                            session->port) >= 0;
        line = refusal ? g_strdup_printf("%s %s\n", inhibited ? "inhibited" : "busy", refusal)
                       : g_strdup("\n");
        ald_probe_child_say(session->child, line);
}

static void on_line(const char *line, void *userdata)
{
        Session *session = userdata;
        g_autofree char *peer = NULL, *port = NULL;

        if (session->peer || ald_probe_report_read(line, &peer, &port) < 0)
                return;
        if (session->transport == ALD_TRANSPORT_RDMA && port && ald_port_name_ok(port))
                g_strlcpy(session->port, port, sizeof session->port);
        ald_probe_child_set_deadline(session->child, SESSION_MSEC);
        /* Where it cannot use the port that is wanted, the program tells the other side so by itself. */
        session->refused = session->transport == ALD_TRANSPORT_RDMA && !*session->port;
        if (!session->refused)
                admit(session);
        session->peer = g_steal_pointer(&peer);
        session->all->handler->changed(session->all->userdata);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        Session *session = userdata;
        AldSessions *all = session->all;

        if (!session->peer || session->refused)
                all->n_refused++;
        if (!session->peer)
                ald_strangers_note(all->strangers, session->place, (uint64_t) g_get_monotonic_time());
        if (failure && session->peer)
                g_info("The session with %s: the probe %s", session->peer, failure);
        g_ptr_array_remove_fast(all->list, session);
        all->handler->changed(all->userdata);
}

static int spawn(Session *session, int connection)
{
        static const AldProbeChildHandler handler = { .line = on_line, .ended = on_ended };
        const AldProgram *program = session->all->program;
        g_autoptr(GPtrArray) arguments = ald_program_arguments(program);

        ald_program_add(arguments, "--port=%u", program->config->port);
        ald_program_add(arguments, "--session-fd=" ALD_PROBE_SESSION_FD);
        ald_program_add(arguments, "--report-fd=" ALD_PROBE_SIDE_FD);
        ald_program_add(arguments, "--ask");
        g_ptr_array_add(arguments, NULL);
        return ald_probe_child_new(program->paths[session->transport], (const char *const *) arguments->pdata,
                connection, STRANGER_MSEC, &handler, session, &session->child);
}

int ald_sessions_start(AldSessions *sessions, AldTransport transport, int connection, const char *place,
        const char *interface)
{
        Session *session;
        int r;

        if (count_strangers(sessions) >= ALD_SESSIONS_STRANGERS_MAX ||
                count_from(sessions, place) >= ALD_SESSIONS_PER_PLACE_MAX ||
                !ald_strangers_may_come(sessions->strangers, place, (uint64_t) g_get_monotonic_time())) {
                sessions->n_refused++;
                return -EUSERS;
        }
        session = g_new0(Session, 1);
        session->all = sessions;
        session->transport = transport;
        session->place = g_strdup(place);
        /* Of RDMA the program tells the port. */
        if (transport == ALD_TRANSPORT_SOCKET)
                g_strlcpy(session->port, interface, sizeof session->port);
        r = spawn(session, connection);
        if (r < 0) {
                g_warning("Cannot run %s: %s", sessions->program->paths[transport], g_strerror(-r));
                session_free(session);
                return r;
        }
        g_ptr_array_add(sessions->list, session);
        sessions->handler->changed(sessions->userdata);
        return 0;
}

void ald_sessions_end_all(AldSessions *sessions, AldTransport transport, const char *reason)
{
        for (unsigned i = 0; i < sessions->list->len; i++) {
                Session *session = sessions->list->pdata[i];

                if (session->transport == transport && is_measuring(session))
                        ald_probe_child_end(session->child, reason);
        }
}

void ald_sessions_foreach_peer(
        const AldSessions *sessions, void (*found)(const char *peer, void *userdata), void *userdata)
{
        for (unsigned i = 0; i < sessions->list->len; i++) {
                const Session *session = sessions->list->pdata[i];

                if (is_measuring(session))
                        found(session->peer, userdata);
        }
}

uint64_t ald_sessions_refused(const AldSessions *sessions)
{
        return sessions->n_refused;
}
