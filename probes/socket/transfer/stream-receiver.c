/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "probes/socket/transfer/stream-receiver.h"
#include "probes/socket/transfer/timing.h"
#include "record/figure-text.h"

#define SLOW 1e6                                     /* bits/s */
#define TOO_MUCH_BYTES (UINT64_C(256) * 1024 * 1024) /* beyond the limit, may arrive between two checks */

int ald_transfer_receiver_init(AldTransferReceiver *receiver, uint64_t nsec_max, uint64_t bytes_max,
        unsigned streams_max, uint64_t min_rtt)
{
        const AldEvaluatorLimits limits = {
                .soft_ns = MIN(ALD_SOFT_NS, nsec_max),
                .hard_ns = MIN(ALD_FAST_NS, nsec_max),
                .slow_ns = nsec_max,
                .bytes = bytes_max,
                .streams = MIN(streams_max, ALD_STREAM_GROUP_MAX),
        };

        *receiver = (AldTransferReceiver){};
        ald_evaluator_init(&receiver->evaluator, &limits, min_rtt);
        ald_transfer_receiver_start(receiver);
        return ald_stream_group_init(&receiver->group, false, false, bytes_max);
}

void ald_transfer_receiver_start(AldTransferReceiver *receiver)
{
        receiver->begun = receiver->arrived_at = receiver->empty_at = ald_now();
        receiver->until = receiver->begun + receiver->evaluator.limits.slow_ns;
}

/*
 * In one interval a lossy link may lose nothing, and a full one may have no queue, so each report is averaged
 * with the previous figures. The losses of the first report are ignored, since slow start overshoots on any
 * link.
 */
void ald_transfer_receiver_take_effort(AldTransferReceiver *receiver, const AldSocketEffort *effort)
{
        const AldSocketEffort before = receiver->other;

        receiver->other = *effort;
        if (receiver->efforts == 0) {
                receiver->other.lost = 0;
        } else if (receiver->efforts > 1) {
                receiver->other.lost = (before.lost + effort->lost) / 2;
                receiver->other.standing = before.standing / 2 + effort->standing / 2;
                receiver->other.spare = before.spare / 2 + effort->spare / 2;
        }
        receiver->efforts++;
}

static void update_own_effort(AldTransferReceiver *receiver, uint64_t now)
{
        if (now - receiver->effort_at < ALD_EFFORT_EVERY_NS)
                return;
        receiver->effort_at = now;
        ald_stream_group_effort(&receiver->group, &receiver->own);
}

static AldTransferReceiverStep evaluate_sample(
        AldTransferReceiver *receiver, const AldTransferCounters *counters)
{
        AldEvaluatorBound bound = ald_socket_limiter_bound(&receiver->other, &receiver->own);

        switch (ald_evaluator_sample(&receiver->evaluator, counters, bound)) {
        case ALD_EVALUATOR_STOP:
                return ALD_TRANSFER_RECEIVER_DONE;
        case ALD_EVALUATOR_MORE_STREAMS:
                return ALD_TRANSFER_RECEIVER_MORE;
        case ALD_EVALUATOR_FEWER_STREAMS:
                ald_stream_group_keep(&receiver->group, receiver->evaluator.streams);
                return ALD_TRANSFER_RECEIVER_GO_ON;
        case ALD_EVALUATOR_GO_ON:
                break;
        }
        return ALD_TRANSFER_RECEIVER_GO_ON;
}

/* Returns whether the transfer has stalled. On a slow link, seconds may pass before the first data and
 * between arrivals, so only the agreed time limits it. */
static bool has_stalled(const AldTransferReceiver *receiver, uint64_t now)
{
        uint64_t since = now - MIN(receiver->arrived_at, now),
                 elapsed = receiver->arrived_at - receiver->begun;

        if (!receiver->measuring)
                return now >= receiver->until;
        return since > ALD_STALL_NS && (double) receiver->bytes * 8e9 >= SLOW * (double) elapsed;
}

AldTransferReceiverStep ald_transfer_receiver_step(AldTransferReceiver *receiver)
{
        AldTransferCounters counters = ald_stream_group_counters(&receiver->group);
        AldTransferReceiverStep step;

        if (counters.bytes > receiver->bytes)
                receiver->arrived_at = counters.when;
        else if (has_stalled(receiver, counters.when)) {
                receiver->stalled = true;
                return ALD_TRANSFER_RECEIVER_STALLED;
        }
        receiver->bytes = counters.bytes;
        if (counters.bytes > receiver->evaluator.limits.bytes + TOO_MUCH_BYTES)
                return ALD_TRANSFER_RECEIVER_TOO_MUCH;
        if (!receiver->measuring && counters.bytes == 0) {
                receiver->empty_at = counters.when;
                return ald_stream_group_has_ended(&receiver->group) ? ALD_TRANSFER_RECEIVER_ENDED
                                                                    : ALD_TRANSFER_RECEIVER_GO_ON;
        }
        /* The data arrived after the last check that found none. */
        if (!receiver->measuring)
                (void) ald_evaluator_sample(&receiver->evaluator,
                        &(AldTransferCounters){ .when = receiver->empty_at }, ALD_EVALUATOR_UNBOUND);
        receiver->measuring = true;
        update_own_effort(receiver, counters.when);
        step = evaluate_sample(receiver, &counters);
        /* The evaluator counts from the first data, for which a connection over a lossy link may take
         * seconds; the other side counts from the beginning. */
        if (counters.when >= receiver->until)
                step = ALD_TRANSFER_RECEIVER_DONE;
        return step != ALD_TRANSFER_RECEIVER_DONE && ald_stream_group_has_ended(&receiver->group)
                       ? ALD_TRANSFER_RECEIVER_ENDED
                       : step;
}

uint64_t ald_transfer_receiver_tick(const AldTransferReceiver *receiver)
{
        uint64_t elapsed = ald_now() - receiver->begun;

        return (double) receiver->bytes * 8e9 < ALD_FINE_TICK_RATE * (double) elapsed ? ALD_FINE_TICK_NS
                                                                                      : ALD_TICK_NS;
}

bool ald_transfer_receiver_verdict(const AldTransferReceiver *receiver, AldVerdict *ret,
        AldSocketLimiter *ret_limiter, char *ret_reason, size_t reason_size)
{
        AldVerdict verdict;

        if (receiver->stalled && receiver->measuring) {
                g_autofree char *size = ald_format_figure(&ald_unit_bytes, (double) receiver->bytes);

                snprintf(ret_reason, reason_size, "the transfer stood still for %u s after %s",
                        (unsigned) (ALD_STALL_NS / ALD_NSEC_PER_SEC), size);
                return false;
        }
        if (!ald_evaluator_verdict(&receiver->evaluator, &verdict)) {
                g_autofree char *elapsed = ald_format_figure(
                        &ald_unit_nanoseconds, (double) (ald_now() - receiver->begun));

                snprintf(ret_reason, reason_size, "no complete segment arrived within %s", elapsed);
                return false;
        }
        *ret = verdict;
        ret->streams = MIN(ret->streams, receiver->group.n);
        if (receiver->efforts > 0)
                *ret_limiter = ald_socket_limiter_find(&receiver->other, &receiver->own, verdict.sure);
        else /* it was over before the sender reported any effort */
                *ret_limiter = verdict.sure ? ALD_SOCKET_LIMITER_NETWORK : ALD_SOCKET_LIMITER_UNKNOWN;
        return true;
}

int ald_transfer_receiver_failed(AldTransferReceiverStep step, AldFailure *failure)
{
        if (step == ALD_TRANSFER_RECEIVER_ENDED)
                return ald_fail(failure, ALD_FAILURE_ABORTED, "the other side stopped within a transfer");
        return ald_fail(failure, ALD_FAILURE_PROTOCOL, "the other side sent more than was agreed");
}

void ald_transfer_receiver_clear(AldTransferReceiver *receiver)
{
        ald_stream_group_clear(&receiver->group);
        ald_evaluator_clear(&receiver->evaluator);
}
