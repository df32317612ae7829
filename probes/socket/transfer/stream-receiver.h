/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/evaluator.h"
#include "probes/common/failure.h"
#include "probes/socket/transfer/stream-group.h"

/* The receiver of a direction also evaluates it. It is the server for the upload, the client for the
 * download. */
typedef struct AldTransferReceiver {
        AldStreamGroup group;
        AldEvaluator evaluator;
        AldSocketEffort own, other;            /* the latest; the sender reports its own */
        unsigned efforts;                      /* reports of the sender */
        uint64_t begun, arrived_at, effort_at; /* arrived_at: last arrival of data */
        uint64_t until;                        /* the end of the agreed time */
        uint64_t empty_at;                     /* last check that found no data at all */
        uint64_t bytes;
        bool measuring; /* data has arrived */
        bool stalled;   /* no more data arrives, or none at all */
} AldTransferReceiver;

typedef enum AldTransferReceiverStep {
        ALD_TRANSFER_RECEIVER_GO_ON,
        ALD_TRANSFER_RECEIVER_MORE, /* evaluator.streams are needed, group.n exist */
        ALD_TRANSFER_RECEIVER_DONE,
        ALD_TRANSFER_RECEIVER_STALLED,
        ALD_TRANSFER_RECEIVER_ENDED, /* the other side closed a connection */
        ALD_TRANSFER_RECEIVER_TOO_MUCH,
} AldTransferReceiverStep;

/* min_rtt is in ns, 0 if unknown. */
int ald_transfer_receiver_init(AldTransferReceiver *receiver, uint64_t nsec_max, uint64_t bytes_max,
        unsigned streams_max, uint64_t min_rtt);

/* Begins to wait for data, now that the sender may connect. */
void ald_transfer_receiver_start(AldTransferReceiver *receiver);

/* Notes a report of the sender. */
void ald_transfer_receiver_take_effort(AldTransferReceiver *receiver, const AldSocketEffort *effort);

AldTransferReceiverStep ald_transfer_receiver_step(AldTransferReceiver *receiver);

/* Returns the time from a step to the next one, in ns. */
uint64_t ald_transfer_receiver_tick(const AldTransferReceiver *receiver);

/* Returns false with the reason if there is no rate. */
bool ald_transfer_receiver_verdict(const AldTransferReceiver *receiver, AldVerdict *ret,
        AldSocketLimiter *ret_limiter, char *ret_reason, size_t reason_size);

/* Fails because of a step without a verdict: ALD_TRANSFER_RECEIVER_ENDED or
 * ALD_TRANSFER_RECEIVER_TOO_MUCH. */
int ald_transfer_receiver_failed(AldTransferReceiverStep step, AldFailure *failure);

void ald_transfer_receiver_clear(AldTransferReceiver *receiver);
