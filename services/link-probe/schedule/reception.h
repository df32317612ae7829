/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/sessions.h"

/* Where other nodes reach this machine to measure links: the port, the addresses from which they may, and the
 * sessions. */
typedef struct AldReception AldReception;

typedef struct AldReceptionParts {
        const char *own_id;
        AldGate *gate;             /* receives whether the port is open */
        AldSessionsParts sessions; /* without members */
} AldReceptionParts;

/* Closed until ald_reception_look(). The query is freed first. */
AldReception *ald_reception_new(const AldReceptionParts *parts);
void ald_reception_free(AldReception *reception);

/* Opens or closes the port, by the configuration and the credentials. Returns whether a port was closed:
 * then nothing may measure links any longer, even if another port was opened. */
bool ald_reception_look(AldReception *reception);

/* Call it from time to time: asks for the addresses of the nodes while the port is open. */
void ald_reception_learn_addresses(AldReception *reception);

AldSessions *ald_reception_sessions(const AldReception *reception);

/* 0 while it is closed. */
unsigned ald_reception_port(const AldReception *reception);

/* Connections that were refused, and sessions that were refused or deferred. */
uint64_t ald_reception_refused(const AldReception *reception);
