/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/common/optional.h"
#include "probes/rdma/gid.h"

/*
 * What the two sides say to each other over the control connection, as JSON: one flat object a message. Pure.
 *
 *   server                          client
 *                                   hello (the port that it wants)
 *   offer, or abort
 *                                   use
 *   ready                                           both ends are connected now
 *                                   phase (ping, read, upload, download: in this order, each at most once,
 *                                   and none before a ping with the nonce of the server came by each queue)
 *   go
 *   stop                            stop            by who receives
 *   drained                         drained         by who sent
 *                                   phase (done)
 *   abort                           abort           at any time
 */

#define ALD_RDMA_PROTOCOL 2u
#define ALD_RDMA_TEXT_SIZE 256u
#define ALD_RDMA_QUEUES_MAX 8u

typedef enum AldRdmaMessageType {
        ALD_RDMA_HELLO,
        ALD_RDMA_OFFER,
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

/* How data is moved. */
typedef enum AldRdmaMethod {
        ALD_RDMA_WRITE, /* with immediate, which tells the receiver */
        ALD_RDMA_SEND,
        _ALD_RDMA_METHOD_MAX,
} AldRdmaMethod;

const char *ald_rdma_method_to_string(AldRdmaMethod method);

typedef struct AldRdmaQueue {
        uint64_t qpn, psn;
} AldRdmaQueue;

/* One end of the connection. */
typedef struct AldRdmaEnd {
        size_t n_queues;
        AldRdmaQueue queues[ALD_RDMA_QUEUES_MAX];
        uint64_t lid, mtu;            /* mtu: as IBV_MTU_… */
        uint64_t address, bytes, key; /* of the memory that the other side may use */
        uint64_t depth;               /* how many messages may be under way to each queue */
        uint64_t nonce;               /* shown in the first ping to it */
} AldRdmaEnd;

/* Only the members of its type count. */
typedef struct AldRdmaMessage {
        AldRdmaMessageType type;
        uint64_t version;              /* hello, offer */
        char port[ALD_RDMA_TEXT_SIZE]; /* hello: the one that is wanted, "" is any; offer: the one it is */
        uint64_t manager;              /* hello, offer: the connection is made by rdma_cm */
        uint64_t automatic;            /* hello: nobody asked for it; an older peer does not say so */
        uint64_t immediate;            /* offer: the port can be written to with immediate */
        char address[ALD_RDMA_TEXT_SIZE];
        uint64_t service, nonce; /* offer: where rdma_cm listens, and what to show there */
        AldGids gids;            /* offer: those to choose from; use: the client's, then the server's */
        uint64_t size, method;   /* use: of a message */
        uint64_t msec, limit;    /* offer, use: of a direction, time and bytes at most */
        AldRdmaEnd end;          /* use, ready */
        uint64_t phase;
        uint64_t bits_per_second, mean, bytes, nsec, bins; /* stop */
        uint64_t interval;                                 /* stop: 0 where it is unknown */
        AldOptional spread;                                /* stop: of the bins, in ppm of their mean */
        uint64_t reason;                                   /* abort */
        char text[ALD_RDMA_TEXT_SIZE];                     /* abort */
} AldRdmaMessage;

char *ald_rdma_message_write(const AldRdmaMessage *message);

/* -EBADMSG for what is none, lacks a key or has a value of another type; -ERANGE for one out of its range. */
int ald_rdma_message_read(const char *text, AldRdmaMessage *ret);
