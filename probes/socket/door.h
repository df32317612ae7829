/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>

#include "probes/common/address.h"
#include "probes/socket/token.h"

#define ALD_DOOR_PENDING 8u
#define ALD_DOOR_FDS (1u + ALD_DOOR_PENDING)

/*
 * Where the data connections of a session come in. Each has to show its token first, soon; whoever comes from
 * another host than the session's other side is shown out at once, and of too many that wait the oldest.
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

/* Listens on the local address of the control connection, at the first port that is free. */
int ald_door_open(AldDoor *door, int control, unsigned first, unsigned n, AldFailure *failure);

/* The descriptors to wait for, at most ALD_DOOR_FDS. */
unsigned ald_door_fds(const AldDoor *door, struct pollfd *ret);

/* Goes on as far as possible. True with a connection, blocking, that has shown a good token. */
bool ald_door_step(AldDoor *door, uint64_t now, int *ret_fd, AldSocketOpenPurpose *ret_purpose);

void ald_door_close(AldDoor *door);
