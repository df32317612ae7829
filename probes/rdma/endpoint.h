/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <rdma/rdma_cma.h>

#include "probes/rdma/port.h"
#include "probes/rdma/transfer-plan.h"
#include "record/record.h"

/* The number of retransmissions without an acknowledgement. With Soft-RoCE, seven, the maximum, means
 * forever. */
#define ALD_ENDPOINT_RETRIES 6u

#define ALD_ENDPOINT_BATCH 32u /* completions read together */

/* Our end of a reliable connection: queue pairs with their memory. */
typedef struct AldEndpoint {
        const AldVerbsPort *port;
        struct rdma_cm_id *manager; /* not owned; NULL if connected without rdma_cm */
        struct ibv_context *context;
        AldRdmaPlan plan;
        struct ibv_pd *domain;
        struct ibv_comp_channel *channel; /* of completed receives */
        struct ibv_cq *sent, *received;
        struct ibv_qp *queues[ALD_RDMA_QUEUES_MAX];
        struct ibv_mr *memory;
        uint8_t *buffer;
        unsigned inline_max;
        AldRdmaReady own;
        AldRdmaQueue own_queues[ALD_RDMA_QUEUES_MAX]; /* the rows of own */
        AldRecord *peer_record;
        const AldRdmaReady *peer;                /* within peer_record; NULL until it is known */
        unsigned group;                          /* messages that are posted together */
        unsigned limit;                          /* messages that may be in flight on each queue */
        unsigned under_way[ALD_RDMA_QUEUES_MAX]; /* posted and not completed yet */
        uint64_t posted;                         /* messages, in all */
        bool armed;                              /* the next receive raises an event */
        unsigned last_queue;                     /* on which the last message was received */
        unsigned verified;                       /* a bit for each queue on which the nonce arrived */
} AldEndpoint;

/* Opens the queue pairs and posts all receive requests. The endpoint must be closed in any case. */
int ald_endpoint_open(const AldVerbsPort *port, const AldRdmaPlan *plan, struct rdma_cm_id *manager,
        AldEndpoint *endpoint, AldFailure *failure);
void ald_endpoint_close(AldEndpoint *endpoint);

/* Sets the description of the other end, an RdmaReady, and takes a reference of it. */
int ald_endpoint_set_peer(AldEndpoint *endpoint, AldRecord *ready, AldFailure *failure);

/* Connects the queues to those of the other end, by GIDs that may be NULL. */
int ald_endpoint_connect(AldEndpoint *endpoint, const AldGid *own, const AldGid *peer, AldFailure *failure);

/* These send a ping from the beginning of the buffer, and read a ping from the other end to there. */
int ald_endpoint_ping(AldEndpoint *endpoint, unsigned queue, AldFailure *failure);
int ald_endpoint_read(AldEndpoint *endpoint, AldFailure *failure);

/* Sends as much data as may be in flight, and returns the number of messages. */
int ald_endpoint_fill(AldEndpoint *endpoint, AldFailure *failure);
bool ald_endpoint_is_idle(const AldEndpoint *endpoint);

/* These record that the nonce arrived on the queue of the last message, and return whether it did on all
 * queues. */
void ald_endpoint_note_verified(AldEndpoint *endpoint);
bool ald_endpoint_is_verified(const AldEndpoint *endpoint);

/*
 * These return the number of messages received, whose requests they post again, or sent. They fail if the
 * device reports an error, or if a message is not of this size.
 */
int ald_endpoint_received(AldEndpoint *endpoint, size_t size, const uint8_t **ret_last, AldFailure *failure);
int ald_endpoint_sent(AldEndpoint *endpoint, AldFailure *failure);

/* Waits until something is received, at most for this time; may return at once. */
int ald_endpoint_wait(AldEndpoint *endpoint, int msec, AldFailure *failure);

/* Fails if the device or the port reports an error. */
int ald_endpoint_check(const AldEndpoint *endpoint, AldFailure *failure);
