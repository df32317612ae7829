/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "probes/listen/remote.h"

/*
 * The port at which other nodes reach this one. A connection waits here, using only a file descriptor, until
 * the first bytes of TLS have arrived; then it is passed on. A connection for RDMA announces itself before
 * TLS; the listener removes these bytes.
 */
typedef struct AldListener AldListener;

/* Takes ownership of the connection. `rdma` is true if it is for RDMA; `local` is its address on this
 * machine. */
typedef void (*AldListenerReady)(int connection, bool rdma, const AldRemote *remote,
        const struct sockaddr_storage *local, void *userdata);

/* Listens on all addresses. Returns -EADDRINUSE or another negative errno. The members must outlive the
 * listener. */
int ald_listener_new(
        unsigned port, const AldMembers *members, AldListenerReady ready, void *userdata, AldListener **ret);

/* Takes ownership of a non-blocking socket that listens already. */
AldListener *ald_listener_new_for_fd(
        int fd, const AldMembers *members, AldListenerReady ready, void *userdata);

void ald_listener_free(AldListener *listener);

/* Returns the port, or 0 if the socket was given. */
unsigned ald_listener_port(const AldListener *listener);

/* Returns the number of connections that were refused because there were too many, or because they were
 * silent or did not use TLS. */
uint64_t ald_listener_refused(const AldListener *listener);

/* Returns the number of connections from unknown addresses, including refused ones. */
uint64_t ald_listener_unknown(const AldListener *listener);

/* Returns whether the first bytes are those of TLS, which are assumed to arrive together. */
bool ald_first_bytes_are_tls(const unsigned char *bytes, size_t n);

/* Returns whether these are the bytes before TLS that request RDMA. They only select the program. */
#define ALD_FIRST_BYTES_RDMA "RDMA"
#define ALD_FIRST_BYTES_RDMA_SIZE 4u
bool ald_first_bytes_are_rdma(const unsigned char *bytes, size_t n);
