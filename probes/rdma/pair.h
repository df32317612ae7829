/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <rdma/rdma_cma.h>

#include "probes/rdma/plan.h"
#include "probes/rdma/port.h"
#include "record/record.h"

/* How often the device retransmits without an acknowledgement. Seven, the maximum, is forever with Soft-RoCE.
 */
#define ALD_PAIR_RETRIES 6u

#define ALD_PAIR_BATCH 32u /* completions that are read together */

/* Queue pairs with their memory: our end of a reliable connection. */
typedef struct AldPair {
        const AldPort *port;
        struct rdma_cm_id *manager; /* lent; NULL: connected by ourselves */
        struct ibv_context *context;
        AldPlan plan;
        struct ibv_pd *domain;
        struct ibv_comp_channel *channel; /* of what was received */
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
        unsigned last_queue;                     /* by which the last message was received */
        unsigned proved;                         /* a bit for each queue by which its nonce arrived */
} AldPair;

/* Posts all receive requests as well. The pair must be closed in any case. */
int ald_pair_open(const AldPort *port, const AldPlan *plan, struct rdma_cm_id *manager, AldPair *pair,
        AldFailure *failure);
void ald_pair_close(AldPair *pair);

/* Keeps the description of the other end, an RdmaReady. */
int ald_pair_take_peer(AldPair *pair, AldRecord *ready, AldFailure *failure);

/* Connects the queues to those of the other end, by GIDs that may be NULL. */
int ald_pair_connect(AldPair *pair, const AldGid *own, const AldGid *peer, AldFailure *failure);

/* Sends a ping from the buffer's begin; reads one from there. */
int ald_pair_ping(AldPair *pair, unsigned queue, AldFailure *failure);
int ald_pair_read(AldPair *pair, AldFailure *failure);

/* Sends as much data as may be in flight; returns the number of messages. */
int ald_pair_fill(AldPair *pair, AldFailure *failure);
bool ald_pair_is_idle(const AldPair *pair);

/* Notes that the nonce arrived by the queue of the last message; whether it did by all queues. */
void ald_pair_note_proof(AldPair *pair);
bool ald_pair_is_proved(const AldPair *pair);

/*
 * The number of messages received, each of this size (their requests are posted again), or sent; negative if
 * the device reports an error, or if one is of another size.
 */
int ald_pair_received(AldPair *pair, size_t size, const uint8_t **ret_last, AldFailure *failure);
int ald_pair_sent(AldPair *pair, AldFailure *failure);

/* Waits until something is received, at most for this time; may return at once. */
int ald_pair_rest(AldPair *pair, int msec, AldFailure *failure);

/* Fails if the device or the port reports an error. */
int ald_pair_look(const AldPair *pair, AldFailure *failure);
