/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "probes/socket/pace.h"
#include "probes/socket/receiving.h"

#define SLOW 1e6                                     /* bits/s */
#define TOO_MUCH_BYTES (UINT64_C(256) * 1024 * 1024) /* may arrive between two checks */

int ald_receiving_init(AldReceiving *receiving, uint64_t nsec_max, uint64_t bytes_max, unsigned streams_max,
        uint64_t min_rtt)
{
        const AldEvaluatorLimits limits = {
                .soft_ns = MIN(ALD_SOFT_NS, nsec_max),
                .hard_ns = MIN(ALD_FAST_NS, nsec_max),
                .slow_ns = nsec_max,
                .bytes = bytes_max,
                .streams = MIN(streams_max, ALD_FLOW_STREAMS_MAX),
        };

        *receiving = (AldReceiving){ .begun = ald_now() };
        receiving->moved = receiving->empty_at = receiving->begun;
        ald_evaluator_init(&receiving->evaluator, &limits, min_rtt);
        return ald_flow_init(&receiving->flow, false, false, bytes_max);
}

static void look_at_effort(AldReceiving *receiving, uint64_t now)
{
        if (now - receiving->effort_at < ALD_EFFORT_EVERY_NS)
                return;
        receiving->effort_at = now;
        ald_flow_effort(&receiving->flow, &receiving->own);
}

static AldReceivingStep evaluate(AldReceiving *receiving, const AldTransferCounters *moved)
{
        bool bound = ald_limiter_streams_may_help(&receiving->other, &receiving->own);

        switch (ald_evaluator_sample(&receiving->evaluator, moved, bound)) {
        case ALD_EVALUATOR_STOP:
                return ALD_RECEIVING_DONE;
        case ALD_EVALUATOR_MORE_STREAMS:
                return ALD_RECEIVING_MORE;
        case ALD_EVALUATOR_FEWER_STREAMS:
                ald_flow_keep(&receiving->flow, receiving->evaluator.streams);
                return ALD_RECEIVING_GO_ON;
        case ALD_EVALUATOR_GO_ON:
                break;
        }
        return ALD_RECEIVING_GO_ON;
}

/* On a slow link seconds may pass before the first data and between arrivals, so only the total time limits
 * it. */
static bool has_stalled(const AldReceiving *receiving, uint64_t now)
{
        uint64_t since = now - MIN(receiving->moved, now), elapsed = receiving->moved - receiving->begun;
        bool slow = !receiving->measuring || (double) receiving->bytes * 8e9 < SLOW * (double) elapsed;

        return since > (slow ? receiving->evaluator.limits.slow_ns : ALD_STALL_NS);
}

AldReceivingStep ald_receiving_step(AldReceiving *receiving)
{
        AldTransferCounters moved = ald_flow_moved(&receiving->flow);
        AldReceivingStep step;

        if (moved.bytes > receiving->bytes)
                receiving->moved = moved.when;
        else if (has_stalled(receiving, moved.when)) {
                receiving->stalled = true;
                return ALD_RECEIVING_STALLED;
        }
        receiving->bytes = moved.bytes;
        if (moved.bytes > receiving->evaluator.limits.bytes + TOO_MUCH_BYTES)
                return ALD_RECEIVING_TOO_MUCH;
        if (!receiving->measuring && moved.bytes == 0) {
                receiving->empty_at = moved.when;
                return ald_flow_has_ended(&receiving->flow) ? ALD_RECEIVING_ENDED : ALD_RECEIVING_GO_ON;
        }
        /* The data arrived after the last check that found none. */
        if (!receiving->measuring)
                (void) ald_evaluator_sample(
                        &receiving->evaluator, &(AldTransferCounters){ .when = receiving->empty_at }, false);
        receiving->measuring = true;
        look_at_effort(receiving, moved.when);
        step = evaluate(receiving, &moved);
        return step != ALD_RECEIVING_DONE && ald_flow_has_ended(&receiving->flow) ? ALD_RECEIVING_ENDED
                                                                                  : step;
}

uint64_t ald_receiving_tick(const AldReceiving *receiving)
{
        uint64_t elapsed = ald_now() - receiving->begun;

        return (double) receiving->bytes * 8e9 < ALD_FINE_TICK_RATE * (double) elapsed ? ALD_FINE_TICK_NS
                                                                                       : ALD_TICK_NS;
}

bool ald_receiving_verdict(const AldReceiving *receiving, AldVerdict *ret,
        AldSocketVerdictLimiter *ret_limiter, char *ret_reason, size_t reason_size)
{
        AldVerdict verdict;

        if (receiving->stalled && receiving->measuring) {
                snprintf(ret_reason, reason_size,
                        "the transfer stood still for %u s after %" G_GUINT64_FORMAT " bytes",
                        (unsigned) (ALD_STALL_NS / ALD_NSEC_PER_SEC), receiving->bytes);
                return false;
        }
        if (!ald_evaluator_verdict(&receiving->evaluator, &verdict)) {
                snprintf(ret_reason, reason_size, "no complete segment arrived within %.0f s",
                        (double) (ald_now() - receiving->begun) / 1e9);
                return false;
        }
        *ret = verdict;
        ret->streams = MIN(ret->streams, receiving->flow.n);
        *ret_limiter = ald_limiter_find(&receiving->other, &receiving->own);
        return true;
}

int ald_receiving_failed(AldReceivingStep step, AldFailure *failure)
{
        if (step == ALD_RECEIVING_STALLED)
                return ald_fail(failure, ALD_FAILURE_TIMEOUT, "nothing arrived for %u s",
                        (unsigned) (ALD_STALL_NS / ALD_NSEC_PER_SEC));
        if (step == ALD_RECEIVING_ENDED)
                return ald_fail(failure, ALD_FAILURE_ABORTED, "the other side stopped within a transfer");
        return ald_fail(failure, ALD_FAILURE_PROTOCOL, "the other side sent more than was agreed");
}

void ald_receiving_clear(AldReceiving *receiving)
{
        ald_flow_clear(&receiving->flow);
        ald_evaluator_clear(&receiving->evaluator);
}
