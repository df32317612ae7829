/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/evaluator.h"
#include "probes/common/statistics.h"
#include "probes/rdma/rdma-options.h"
#include "probes/rdma/rdma-session.h"

/* The steps of both sides while data flows. */

/* Returns the limits of a direction, the lower ones of both sides. */
AldEvaluatorLimits ald_rdma_transfer_limits(
        const AldRdmaOptions *options, uint64_t their_msec, uint64_t their_bytes);

/* Pings the other side, which answers. The samples are in chronological order. */
int ald_rdma_transfer_ping(AldRdmaSession *session, AldRttSample *samples, size_t n, size_t *ret_n);

/* Answers pings until the other side sends a message, and returns 1 then. */
int ald_rdma_transfer_answer(AldRdmaSession *session, AldRecord **ret);

/* Measures round trips by reading memory of the other side, which does not involve its processor. */
int ald_rdma_transfer_read(AldRdmaSession *session, AldRttSample *samples, size_t n, size_t *ret_n);

/* Sends until the other side stops it, at most the bytes that were agreed on. *bytes must be 0; it counts the
 * bytes sent, also before a failure. */
int ald_rdma_transfer_send(AldRdmaSession *session, const AldEvaluatorLimits *limits, uint64_t *bytes);

/* Receives until the rate is known, and stops the other side. */
int ald_rdma_transfer_receive(
        AldRdmaSession *session, const AldEvaluatorLimits *limits, uint64_t min_rtt, AldVerdict *ret);

/* These convert a verdict to a message and back. The number of streams is not part of the message. */
AldRdmaStop ald_rdma_transfer_stop(const AldVerdict *verdict);
AldVerdict ald_rdma_transfer_verdict(const AldRdmaStop *stop);

/* Returns whether the verdict of the receiver is possible if this many bytes were sent within this time. */
bool ald_rdma_transfer_is_plausible(const AldVerdict *verdict, uint64_t sent, uint64_t nsec);
