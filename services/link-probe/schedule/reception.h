/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/sessions.h"

/* Lets other nodes reach this machine to measure links: owns the port, the addresses of members, and the
 * sessions. */
typedef struct AldReception AldReception;

typedef struct AldReceptionParts {
        const char *own_id;
        AldGate *gate;             /* is set to whether the port is open */
        AldSessionsParts sessions; /* with no members yet */
} AldReceptionParts;

/* The port is closed until ald_reception_refresh(). The query is freed first. */
AldReception *ald_reception_new(const AldReceptionParts *parts);
void ald_reception_free(AldReception *reception);

/* Opens or closes the port, by the configuration and the credentials. Returns whether a port was closed: then
 * all measurements of links must stop, even if another port was opened. */
bool ald_reception_refresh(AldReception *reception);

/* Requests the addresses of the nodes while the port is open. Call it from time to time. */
void ald_reception_learn_addresses(AldReception *reception);

AldSessions *ald_reception_sessions(const AldReception *reception);

/* Returns 0 while the port is closed. */
unsigned ald_reception_port(const AldReception *reception);

/* Returns the number of refused connections, and of sessions that were refused or deferred. */
uint64_t ald_reception_refused(const AldReception *reception);
