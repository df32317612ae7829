/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/evaluator.h"
#include "probes/common/failure.h"
#include "probes/socket/flow.h"

/* The receiver of a direction, which also evaluates it: the server for the upload, the client for the
 * download.
 */
typedef struct AldReceiving {
        AldFlow flow;
        AldEvaluator evaluator;
        AldSocketEffort own, other;       /* the latest; the sender reports its own */
        uint64_t begun, moved, effort_at; /* when; moved: when data arrived last */
        uint64_t empty_at;                /* last check that found no data at all */
        uint64_t bytes;
        bool measuring; /* data has arrived */
        bool stalled;   /* no more data arrives, or none at all */
} AldReceiving;

typedef enum AldReceivingStep {
        ALD_RECEIVING_GO_ON,
        ALD_RECEIVING_MORE, /* evaluator.streams are needed, flow.n exist */
        ALD_RECEIVING_DONE,
        ALD_RECEIVING_STALLED,
        ALD_RECEIVING_ENDED, /* the other side closed a connection */
        ALD_RECEIVING_TOO_MUCH,
} AldReceivingStep;

/* min_rtt in ns, 0: unknown. */
int ald_receiving_init(AldReceiving *receiving, uint64_t nsec_max, uint64_t bytes_max, unsigned streams_max,
        uint64_t min_rtt);

AldReceivingStep ald_receiving_step(AldReceiving *receiving);

/* How long after a step the next one is due. */
uint64_t ald_receiving_tick(const AldReceiving *receiving);

/* False if there is no rate, with the reason. */
bool ald_receiving_verdict(const AldReceiving *receiving, AldVerdict *ret,
        AldSocketVerdictLimiter *ret_limiter, char *ret_reason, size_t reason_size);

/* Fails because of a step other than the first three. */
int ald_receiving_failed(AldReceivingStep step, AldFailure *failure);

void ald_receiving_clear(AldReceiving *receiving);
