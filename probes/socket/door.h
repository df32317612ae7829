/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>

#include "probes/common/address.h"
#include "probes/socket/token.h"

#define ALD_DOOR_PENDING 8u
#define ALD_DOOR_FDS (1u + ALD_DOOR_PENDING)

/*
 * Accepts the data connections of a session. Each has to send its token first, within a few seconds.
 * Connections from other hosts than the session's other side are closed at once, and if too many wait, the
 * oldest of them is closed.
 */
typedef struct AldDoor {
        int fd;
        unsigned port;
        AldAddress peer;
        AldTokens tokens;
        struct AldDoorPending {
                int fd; /* -1: free */
                uint64_t since;
                size_t n;
                char text[ALD_TOKEN_SIZE];
        } pending[ALD_DOOR_PENDING];
} AldDoor;

/* Listens on the local address of the control connection, at the first free port. */
int ald_door_open(AldDoor *door, int control, unsigned first, unsigned n, AldFailure *failure);

/* The descriptors to wait for, at most ALD_DOOR_FDS. */
unsigned ald_door_fds(const AldDoor *door, struct pollfd *ret);

/* Does what is possible without waiting. True with a connection, blocking, that sent a valid token. */
bool ald_door_step(AldDoor *door, uint64_t now, int *ret_fd, AldSocketOpenPurpose *ret_purpose);

void ald_door_close(AldDoor *door);
