/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <string.h>

#include "probes/listen/accept-limit.h"
#include "record/record.h"
#include "services/link-probe/link/node-budgets.h"
#include "services/link-probe/link/sessions.h"
#include "services/link-probe/probe/probe-answer.h"
#include "services/link-probe/probe/probe-child.h"

/* The maximum size of the GIDs of a node in the line that is sent to the program. */
#define GIDS_MAX 3500u

/* Time limits until the peer has proved its identity, until it has sent its request, and for the whole
 * session. The program has shorter limits of its own. */
#define HANDSHAKE_MSEC 10000u
#define UNDECIDED_MSEC 10000u
#define SESSION_MSEC 60000u

/*
 * A handshake costs a process and some milliseconds of processor time; the total rate keeps this below a
 * third of a processor. A member retries after a second at the earliest, and has several paths.
 */
static const AldAcceptShare shares[ALD_REMOTE_CLASS_N] = {
        [ALD_REMOTE_UNKNOWN] = { .max = 6,
                .place_max = 2,
                .replace_after_usec = 500000,
                .per_second = 8,
                .burst = 16,
                .place_per_second = 1,
                .place_burst = 8 },
        [ALD_REMOTE_LOCAL] = { .max = 2,
                .place_max = 2,
                .replace_after_usec = 500000,
                .per_second = 2,
                .burst = 16 },
        [ALD_REMOTE_MEMBER] = { .max = 8,
                .place_max = 2,
                .replace_after_usec = 3000000,
                .per_second = 20,
                .burst = 40,
                .place_per_second = 2,
                .place_burst = 16 },
};

typedef struct Session {
        AldSessions *all;
        AldProbeChild *child;
        const AldProbeKind *kind;
        AldRemote remote;
        char *peer;                    /* NULL until it has proved its identity */
        char port[ALD_PORT_NAME_SIZE]; /* the interface or RDMA port over which it measures; may be empty */
        bool occupies;                 /* `port` is occupied for it */
        bool answered;                 /* its request has arrived and was answered */
        bool refused;                  /* its request was refused or deferred */
        bool ending;                   /* it was stopped in favor of another session */
        gint64 proved, begun;          /* when the identity was proved; when the request was answered */
        struct Inquiry *inquiry;       /* pending, or NULL */
} Session;

/* A pending request to the state service, without whose reply a session may not measure over RDMA. */
typedef struct Inquiry {
        AldSessions *all;
        Session *session; /* NULL if it has ended meanwhile */
        AldProbeWanted wanted;
} Inquiry;

struct AldSessions {
        AldSessionsParts parts;
        GPtrArray *list;
        GPtrArray *inquiries;
        AldAcceptLimit *limit;
        AldNodeBudgets *budgets;
        uint64_t n_refused;
};

static void session_free(gpointer data)
{
        Session *session = data;

        ald_probe_child_free(session->child);
        if (session->inquiry)
                session->inquiry->session = NULL;
        if (session->occupies)
                ald_counters_release(session->all->parts.counters, session->port);
        ald_accept_limit_leave(session->all->limit, session);
        g_free(session->peer);
        g_free(session);
}

AldSessions *ald_sessions_new(const AldSessionsParts *parts)
{
        AldSessions *sessions = g_new0(AldSessions, 1);

        sessions->parts = *parts;
        sessions->list = g_ptr_array_new_with_free_func(session_free);
        sessions->inquiries = g_ptr_array_new_with_free_func(g_free);
        sessions->limit = ald_accept_limit_new(shares);
        sessions->budgets = ald_node_budgets_new();
        return sessions;
}

void ald_sessions_free(AldSessions *sessions)
{
        if (!sessions)
                return;
        g_ptr_array_unref(sessions->list);
        g_ptr_array_unref(sessions->inquiries);
        ald_accept_limit_free(sessions->limit);
        ald_node_budgets_free(sessions->budgets);
        g_free(sessions);
}

static bool is_measuring(const Session *session)
{
        return session->answered && !session->refused;
}

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

unsigned ald_sessions_count(const AldSessions *sessions)
{
        unsigned n = 0;

        for (unsigned i = 0; i < sessions->list->len; i++)
                n += is_measuring(sessions->list->pdata[i]);
        return n;
}

/* Returns why the session must wait, or NULL. Notes that a deferred node takes precedence later. */
static char *find_busy_reason(const Session *session)
{
        const AldSessions *sessions = session->all;
        const AldNetwork *network = ald_prober_network(sessions->parts.prober);
        char *reason = ald_node_budgets_refuse(sessions->budgets, session->peer, session->port, now_usec());

        if (reason)
                return reason;
        if (ald_sessions_count(sessions) >= sessions->parts.program->config->max_sessions) {
                ald_node_budgets_wait(sessions->budgets, session->peer, "", now_usec());
                return g_strdup("session limit reached");
        }
        if (*session->port && ald_counters_is_occupied(sessions->parts.counters, network, session->port)) {
                ald_node_budgets_wait(sessions->budgets, session->peer, session->port, now_usec());
                return g_strdup_printf("another probe uses %s", session->port);
        }
        ald_node_budgets_end_wait(sessions->budgets, session->peer);
        return NULL;
}

/* Returns why the request of the peer is refused, or NULL. */
static char *find_refusal(const Session *session, const AldProbeWanted *wanted, AldRefusal *ret)
{
        const AldSessions *sessions = session->all;
        const AldSessionsParts *parts = &sessions->parts;
        char *reason = ald_gate_refuse_session(
                parts->gate, parts->prober, parts->results, session->kind, session->port, wanted, ret);

        if (reason) {
                ald_node_budgets_end_wait(sessions->budgets, session->peer);
                return reason;
        }
        *ret = ALD_REFUSAL_BUSY;
        return find_busy_reason(session);
}

static void evict_session(Session *session)
{
        session->ending = true;
        ald_probe_child_end(session->child, "was stopped in favor of another session");
}

/* Answers the request of a peer whose identity is proved: `go` is sent if it may measure. */
static void answer_request(Session *session, const AldProbeWanted *wanted, const char *go)
{
        static const char *const words[ALD_REFUSAL_N] = { "busy", "inhibited", ALD_PROBE_ROUND_TRIPS_ONLY };
        AldSessions *all = session->all;
        AldRefusal kind = ALD_REFUSAL_BUSY;
        g_autofree char *refusal = find_refusal(session, wanted, &kind), *line = NULL;

        session->answered = true;
        session->refused = refusal != NULL;
        session->begun = g_get_monotonic_time();
        ald_probe_child_set_deadline(session->child, SESSION_MSEC);
        if (!refusal && *session->port)
                session->occupies = ald_counters_occupy(all->parts.counters,
                                            ald_prober_network(all->parts.prober), session->port) >= 0;
        line = refusal ? g_strdup_printf("%s %s\n", words[kind], refusal) : g_strdup(go);
        ald_probe_child_send(session->child, line);
}

static void add_gid(GString *text, GHashTable *known, const char *gid)
{
        struct in6_addr bytes;

        if (inet_pton(AF_INET6, gid, &bytes) == 1 && text->len <= GIDS_MAX &&
                g_hash_table_add(known, g_strdup(gid)))
                g_string_append_printf(text, " %s", gid);
}

/* Adds the GID of a row "INDEX TYPE GID" or "INDEX TYPE GID INTERFACE"; the rows repeat some GIDs. */
static void add_gid_of_row(GString *text, GHashTable *known, const char *row)
{
        g_auto(GStrv) words = g_strsplit(row, " ", -1);

        if (g_strv_length(words) >= 3)
                add_gid(text, known, words[2]);
}

/* Adds the addresses of the interface behind a port, which connections over iWARP use. */
static void add_addresses(GString *text, GHashTable *known, const AldNetwork *network, const char *interface)
{
        const AldInterface *row = network && interface ? ald_rows_find(&network->interfaces, interface)
                                                       : NULL;

        for (const char *const *address = row ? row->addresses : NULL; address && *address; address++) {
                g_autofree char *plain = g_strndup(*address, strcspn(*address, "/%"));
                g_autofree char *gid = g_strconcat(strchr(plain, ':') ? "" : "::ffff:", plain, NULL);

                add_gid(text, known, gid);
        }
}

/* Returns a line with "gids" and the GIDs of all ports of the node. */
static char *describe_gids(const AldFabric *fabric, const AldNetwork *network)
{
        g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GString *text = g_string_new("gids");

        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                for (const char *const *gid = port->gids; gid && *gid; gid++)
                        add_gid_of_row(text, known, *gid);
                add_addresses(text, known, network, port->interface);
        }
        g_string_append_c(text, '\n');
        return g_string_free(text, FALSE);
}

static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        Inquiry *inquiry = userdata;
        Session *session = inquiry->session;
        const AldProbeWanted wanted = inquiry->wanted;
        g_autofree char *go = describe_gids(ald_node_records_as(records, FABRIC, AldFabric),
                ald_node_records_as(records, NETWORK, AldNetwork));

        g_ptr_array_remove_fast(inquiry->all->inquiries, inquiry);
        if (!session)
                return;
        session->inquiry = NULL;
        answer_request(session, &wanted, go);
        session->all->parts.changed(session->all->parts.userdata);
}

/* Looks up the GIDs of the peer: over RDMA, the program sends to GIDs that the peer names, which must belong
 * to it. */
static void look_up_gids(Session *session, const AldProbeWanted *wanted)
{
        AldSessions *all = session->all;
        Inquiry *inquiry;

        if (session->inquiry)
                return;
        inquiry = g_new(Inquiry, 1);
        *inquiry = (Inquiry){ all, session, *wanted };
        if (ald_state_query_node(all->parts.query, session->peer, on_records, inquiry) >= 0) {
                session->inquiry = inquiry;
                g_ptr_array_add(all->inquiries, inquiry);
        } else {
                g_free(inquiry);
                answer_request(session, wanted, "gids\n");
        }
}

/* Limits how many sessions of a node may be without a request, so that such a node delays only itself. */
static void limit_undecided(AldSessions *sessions, const char *peer)
{
        Session *oldest = NULL;
        unsigned n = 0;

        for (unsigned i = 0; i < sessions->list->len; i++) {
                Session *session = sessions->list->pdata[i];

                if (session->answered || session->ending || g_strcmp0(session->peer, peer) != 0)
                        continue;
                n++;
                if (!oldest || session->proved < oldest->proved)
                        oldest = session;
        }
        if (n > ALD_SESSIONS_UNDECIDED_MAX)
                evict_session(oldest);
}

static void set_peer(Session *session, const AldSessionReport *report)
{
        AldSessions *all = session->all;

        session->peer = g_strdup(report->peer);
        session->proved = g_get_monotonic_time();
        ald_accept_limit_leave(all->limit, session);
        if (session->remote.class != ALD_REMOTE_LOCAL)
                ald_members_note_proof(
                        all->parts.members, session->remote.address, session->peer, now_usec());
        if (ald_probe_kind_is_rdma(session->kind) && report->port && ald_port_name_ok(report->port))
                g_strlcpy(session->port, report->port, sizeof session->port);
        ald_probe_child_set_deadline(session->child, UNDECIDED_MSEC);
        limit_undecided(all, session->peer);
        /* A port that cannot be used is reported to the peer by the program. */
        session->answered = session->refused = ald_probe_kind_is_rdma(session->kind) && !*session->port;
}

/* Handles the first report with the identity and the first with a request, possibly the same. */
static void on_line(const char *line, void *userdata)
{
        Session *session = userdata;
        g_autoptr(AldRecord) record = NULL;
        const AldSessionReport *report;
        AldProbeWanted wanted;

        if (session->answered || ald_probe_answer_parse(ALD_KIND_SESSION_REPORT, line, &record) < 0)
                return;
        report = ald_record_as(record, SESSION_REPORT, AldSessionReport);
        if (!session->peer && report->peer)
                set_peer(session, report);
        if (session->peer && ald_probe_wanted(report, &wanted) && !session->answered) {
                if (ald_probe_kind_is_rdma(session->kind))
                        look_up_gids(session, &wanted);
                else
                        answer_request(session, &wanted, "\n");
        }
        session->all->parts.changed(session->all->parts.userdata);
}

static void report_rate(const Session *session, const char *output)
{
        const AldSessions *all = session->all;
        g_autoptr(AldRecord) record = NULL;
        const AldSocketServed *served;

        if (ald_probe_kind_is_rdma(session->kind) || !*session->port ||
                ald_probe_answer_parse(ALD_KIND_SOCKET_SERVED, output, &record) < 0)
                return;
        served = ald_record_as(record, SOCKET_SERVED, AldSocketServed);
        if (!served->error && served->upload_bits_per_second != ALD_ABSENT_UINT64)
                ald_results_note_rate(all->parts.results, session->port, served->upload_bits_per_second);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        Session *session = userdata;
        AldSessions *all = session->all;

        if (!session->peer || session->refused)
                all->n_refused++;
        if (is_measuring(session))
                ald_node_budgets_charge(all->budgets, session->peer,
                        (uint64_t) (g_get_monotonic_time() - session->begun), now_usec());
        if (failure && session->peer)
                g_info("The session with %s: the probe %s", session->peer, failure);
        if (is_measuring(session) && !failure)
                report_rate(session, output);
        g_ptr_array_remove_fast(all->list, session);
        all->parts.changed(all->parts.userdata);
}

static int spawn_program(Session *session, int connection)
{
        static const AldProbeChildHandler handler = { .line = on_line, .ended = on_ended };
        const AldProgram *program = session->all->parts.program;
        g_autofree char *path = ald_program_find(session->kind->program);
        g_autoptr(GPtrArray) arguments = ald_program_arguments(program);
        int r;

        ald_program_add(arguments, "--port=%u", program->config->port);
        ald_program_add(arguments, "--session-fd=" ALD_PROBE_SESSION_FD);
        ald_program_add(arguments, "--report-fd=" ALD_PROBE_SIDE_FD);
        ald_program_add(arguments, "--ask");
        g_ptr_array_add(arguments, NULL);
        r = ald_probe_child_new(path, (const char *const *) arguments->pdata, connection, HANDSHAKE_MSEC,
                &handler, session, &session->child);
        if (r < 0)
                g_warning("Cannot run %s: %s", path, g_strerror(-r));
        return r;
}

int ald_sessions_start(AldSessions *sessions, const AldProbeKind *kind, int connection,
        const AldRemote *remote, const char *interface)
{
        Session *session = g_new0(Session, 1);
        void *evicted = NULL;
        int r;

        session->all = sessions;
        session->kind = kind;
        session->remote = *remote;
        r = ald_accept_limit_enter(sessions->limit, remote, now_usec(), session, &evicted);
        if (r < 0) {
                sessions->n_refused++;
                session_free(session);
                return r;
        }
        if (evicted)
                evict_session(evicted);
        /* Over RDMA, the program reports the port. */
        if (!ald_probe_kind_is_rdma(kind))
                g_strlcpy(session->port, interface, sizeof session->port);
        r = spawn_program(session, connection);
        if (r < 0) {
                session_free(session);
                return r;
        }
        g_ptr_array_add(sessions->list, session);
        sessions->parts.changed(sessions->parts.userdata);
        return 0;
}

void ald_sessions_end_all(AldSessions *sessions, const AldProbeKind *kind, const char *reason)
{
        for (unsigned i = 0; i < sessions->list->len; i++) {
                Session *session = sessions->list->pdata[i];

                if (session->kind == kind && is_measuring(session))
                        ald_probe_child_end(session->child, reason);
        }
}

void ald_sessions_append_peers(const AldSessions *sessions, GPtrArray *nodes)
{
        for (unsigned i = 0; i < sessions->list->len; i++) {
                const Session *session = sessions->list->pdata[i];

                if (is_measuring(session))
                        g_ptr_array_add(nodes, g_strdup(session->peer));
        }
}

uint64_t ald_sessions_refused(const AldSessions *sessions)
{
        return sessions->n_refused;
}
