/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <sys/socket.h>

#include "services/link-probe/remote.h"
#include "services/link-probe/transport.h"

/*
 * The port at which other nodes find this one. A connection waits here until the first bytes of TLS have
 * come, which costs a file descriptor and no more; then it is handed on. Those that ask for RDMA say so
 * before, which is taken off.
 */
typedef struct AldListener AldListener;

/* Takes over the connection. `local` is our end of it. */
typedef void (*AldListenerReady)(int connection, AldTransport transport, const AldRemote *remote,
        const struct sockaddr_storage *local, void *userdata);

/* On all addresses. -EADDRINUSE and the like. The members must outlive it. */
int ald_listener_new(
        unsigned port, const AldMembers *members, AldListenerReady ready, void *userdata, AldListener **ret);
void ald_listener_free(AldListener *listener);

unsigned ald_listener_port(const AldListener *listener);

/* Connections that were too many, silent, or spoke no TLS. */
uint64_t ald_listener_refused(const AldListener *listener);

/* Connections from addresses of which nothing was known, refused ones included. */
uint64_t ald_listener_unknown(const AldListener *listener);
