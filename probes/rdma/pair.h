/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/message.h"
#include "probes/rdma/port.h"

/* A queue pair with its memory: our end of a reliable connection. */

#define ALD_PAIR_PING 64u /* bytes of a ping */

typedef struct AldPair {
        const AldPort *port;
        struct ibv_pd *domain;
        struct ibv_cq *sent, *received;
        struct ibv_qp *qp;
        struct ibv_mr *memory;
        uint8_t *buffer;
        size_t bytes; /* of what is written to, and from; the room of what is received is behind it */
        size_t size;  /* of a message */
        unsigned depth;
        unsigned inline_max;
        AldRdmaEnd own, peer;
        unsigned under_way; /* what was posted to be sent and was not told as done */
} AldPair;

/* size: of a message. Everything that is received has room at once. */
int ald_pair_open(const AldPort *port, size_t size, AldPair *ret, AldFailure *failure);
void ald_pair_close(AldPair *pair);

/* Connects it to the other end, of which all but its GID is in pair->peer. */
int ald_pair_connect(AldPair *pair, const AldGid *own, const AldGid *peer, AldFailure *failure);

/* Sends a ping of n bytes from the buffer's begin; a message whole, which the other side is told of; reads a
 * ping from there. */
int ald_pair_ping(AldPair *pair, AldFailure *failure);
int ald_pair_write(AldPair *pair, uint64_t number, AldFailure *failure);
int ald_pair_read(AldPair *pair, AldFailure *failure);

/* How many more have been received (their room is given back), or are done; negative: what the device says.
 */
int ald_pair_received(AldPair *pair, const uint8_t **ret_last, AldFailure *failure);
int ald_pair_sent(AldPair *pair, AldFailure *failure);

/* What happened to the device or the port, if anything. */
int ald_pair_look(const AldPair *pair, AldFailure *failure);
