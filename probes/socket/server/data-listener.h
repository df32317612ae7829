/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>

#include "probes/common/address.h"
#include "probes/socket/transfer/token.h"

#define ALD_DATA_LISTENER_PENDING 8u
#define ALD_DATA_LISTENER_FDS (1u + ALD_DATA_LISTENER_PENDING)

/*
 * Accepts the data connections of a session. Each has to send its token first, within a few seconds.
 * Connections from any host but the peer of the session are closed at once. If too many wait, the oldest of
 * them is closed.
 */
typedef struct AldDataListener {
        int fd;
        unsigned port;
        AldAddress peer;
        AldTokens tokens;
        struct AldPendingConnection {
                int fd; /* -1: free */
                uint64_t since;
                size_t n;
                char text[ALD_TOKEN_SIZE];
        } pending[ALD_DATA_LISTENER_PENDING];
} AldDataListener;

/* Listens on the local address of the control connection, at the first free port. */
int ald_data_listener_open(
        AldDataListener *listener, int control, unsigned first, unsigned n, AldFailure *failure);

/* Fills in the descriptors to wait for, and returns their number, at most ALD_DATA_LISTENER_FDS. */
unsigned ald_data_listener_fds(const AldDataListener *listener, struct pollfd *ret);

/* Does what is possible without waiting. Returns true with a blocking connection that sent a valid token. */
bool ald_data_listener_step(
        AldDataListener *listener, uint64_t now, int *ret_fd, AldSocketOpenPurpose *ret_purpose);

void ald_data_listener_close(AldDataListener *listener);
