/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "probes/listen/listener.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/busy.h"
#include "services/link-probe/schedule/member-addresses.h"
#include "services/link-probe/schedule/reception.h"

struct AldReception {
        AldGate *gate;
        const AldProgram *program;
        AldMembers *members;
        AldAddresses *addresses; /* of the members */
        AldSessions *sessions;
        AldListener *listener;   /* NULL while the port is closed */
        uint64_t refused_before; /* by closed listeners, or for a kind that is not measured */
        uint64_t unknown_before; /* unknown connections when the addresses were last requested */
};

AldReception *ald_reception_new(const AldReceptionParts *parts)
{
        AldReception *reception = g_new0(AldReception, 1);
        AldSessionsParts sessions = parts->sessions;

        reception->gate = parts->gate;
        reception->program = sessions.program;
        reception->members = sessions.members = ald_members_new();
        reception->addresses = ald_addresses_new(sessions.query, parts->own_id, reception->members);
        reception->sessions = ald_sessions_new(&sessions);
        return reception;
}

void ald_reception_free(AldReception *reception)
{
        if (!reception)
                return;
        ald_listener_free(reception->listener);
        ald_addresses_free(reception->addresses);
        ald_sessions_free(reception->sessions);
        ald_members_free(reception->members);
        g_free(reception);
}

static void on_connection(int connection, bool rdma, const AldRemote *remote,
        const struct sockaddr_storage *local, void *userdata)
{
        AldReception *reception = userdata;
        const AldProbeKind *kind = rdma ? &ald_probe_rdma : &ald_probe_socket;
        char buffer[IFNAMSIZ];

        if (ald_gate_is_able(reception->gate, kind))
                (void) ald_sessions_start(
                        reception->sessions, kind, connection, remote, ald_busy_interface(local, buffer));
        else
                reception->refused_before++;
        close(connection);
}

bool ald_reception_refresh(AldReception *reception)
{
        const AldLinkProbeConfig *config = reception->program->config;
        char *problem = config->enabled ? ald_credentials_problem(reception->program->credentials) : NULL;
        bool is_open = reception->listener != NULL;
        bool closes = is_open &&
                      (!config->enabled || problem || ald_reception_port(reception) != config->port);
        int r;

        if (closes) {
                reception->refused_before += ald_listener_refused(reception->listener);
                g_clear_pointer(&reception->listener, ald_listener_free);
        }
        if (config->enabled && !problem && !reception->listener) {
                r = ald_listener_new(
                        config->port, reception->members, on_connection, reception, &reception->listener);
                if (r < 0)
                        problem = g_strdup_printf(
                                "Other nodes cannot reach this machine to measure links: port %u: %s",
                                config->port, g_strerror(-r));
        }
        ald_gate_set_open(reception->gate, reception->listener != NULL, problem);
        return closes;
}

/* Connections from unknown addresses may come from nodes that have just joined, so they trigger a new
 * request. */
void ald_reception_learn_addresses(AldReception *reception)
{
        uint64_t unknown = reception->listener ? ald_listener_unknown(reception->listener) : 0;

        if (reception->listener)
                ald_addresses_update(reception->addresses, unknown != reception->unknown_before);
        reception->unknown_before = unknown;
}

AldSessions *ald_reception_sessions(const AldReception *reception)
{
        return reception->sessions;
}

unsigned ald_reception_port(const AldReception *reception)
{
        return reception->listener ? ald_listener_port(reception->listener) : 0;
}

uint64_t ald_reception_refused(const AldReception *reception)
{
        return reception->refused_before + ald_sessions_refused(reception->sessions) +
               (reception->listener ? ald_listener_refused(reception->listener) : 0);
}
