/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/rdma/gid.h"

/*
 * What the two sides say to each other over the control connection, as JSON: one flat object a message. Pure.
 *
 *   server                          client
 *   hello, or abort
 *                                   use
 *   ready                                           both ends are connected now
 *                                   phase (ping, read, upload or download)
 *   go
 *   stop                            stop            by who receives
 *   drained                         drained         by who sent
 *                                   phase (done)
 *   abort                           abort           at any time
 */

#define ALD_RDMA_PROTOCOL 1u
#define ALD_RDMA_TEXT_SIZE 256u

typedef enum AldRdmaMessageType {
        ALD_RDMA_HELLO,
        ALD_RDMA_USE,
        ALD_RDMA_READY,
        ALD_RDMA_PHASE,
        ALD_RDMA_GO,
        ALD_RDMA_STOP,
        ALD_RDMA_DRAINED,
        ALD_RDMA_ABORT,
        _ALD_RDMA_MESSAGE_MAX,
} AldRdmaMessageType;

typedef enum AldRdmaPhase {
        ALD_RDMA_PING,
        ALD_RDMA_READ,
        ALD_RDMA_UPLOAD,
        ALD_RDMA_DOWNLOAD,
        ALD_RDMA_DONE,
        _ALD_RDMA_PHASE_MAX,
} AldRdmaPhase;

/* One end of the connection. */
typedef struct AldRdmaEnd {
        uint64_t lid, qpn, psn, mtu;  /* mtu: as IBV_MTU_… */
        uint64_t address, bytes, key; /* of the memory that the other side may use */
        uint64_t depth;               /* how many messages may be under way to it */
        uint64_t nonce;               /* shown in the first ping to it */
} AldRdmaEnd;

/* Only the members of its type count. */
typedef struct AldRdmaMessage {
        AldRdmaMessageType type;
        uint64_t version;
        char port[ALD_RDMA_TEXT_SIZE]; /* hello */
        AldGids gids;                  /* hello: those to choose from; use: the client's, then the server's */
        uint64_t size;                 /* use: of a message */
        AldRdmaEnd end;                /* use, ready */
        uint64_t phase;
        uint64_t bits_per_second, mean, interval, bytes, nsec, bins; /* stop */
        uint64_t reason;                                             /* abort */
        char text[ALD_RDMA_TEXT_SIZE];                               /* abort */
} AldRdmaMessage;

char *ald_rdma_message_write(const AldRdmaMessage *message);

/* -EBADMSG for what is none, lacks a key or has a value of another type; -ERANGE for one out of its range. */
int ald_rdma_message_read(const char *text, AldRdmaMessage *ret);
