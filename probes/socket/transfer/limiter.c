/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/limiter.h"

#define BUSY 850u    /* permille: the thread is close to its limit */
#define WAITING 300u /* permille of the time: enough to show which side is waited for */
#define IDLE 500u
#define SPARE 500u     /* half a processor: with less, another thread only slows down the first */
#define LOST 100u      /* millionths: loss without a queue does not mean that the link is full */
#define STANDING 1500u /* thousandths of the shortest round trip: there is a queue, or jitter */

/* Millionths that are lost on a bad path, whatever its round trips. A full queue drops far less, since the
 * connections that fill it back off after each loss. */
#define HEAVY_LOSS 10000u

static const char *const words[] = {
        [ALD_SOCKET_LIMITER_NETWORK] = "network",
        [ALD_SOCKET_LIMITER_LOSS] = "loss",
        [ALD_SOCKET_LIMITER_RECEIVER] = "receiver",
        [ALD_SOCKET_LIMITER_SENDER] = "sender",
        [ALD_SOCKET_LIMITER_APPLICATION] = "application",
};

const char *ald_socket_limiter_to_string(AldSocketLimiter limiter)
{
        return words[limiter];
}

AldSocketLimiter ald_socket_limiter_from_string(const char *word)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
                if (words[i] && g_strcmp0(word, words[i]) == 0)
                        return (AldSocketLimiter) i;
        return ALD_SOCKET_LIMITER_UNKNOWN;
}

static bool is_lossy(const AldSocketEffort *sender)
{
        return sender->lost >= HEAVY_LOSS || (sender->lost >= LOST && sender->standing < STANDING);
}

/*
 * A steady rate shows that the link is full, whatever else the machines do. Otherwise a machine without spare
 * processors may have kept the link waiting, even if a queue stands at other times.
 */
AldSocketLimiter ald_socket_limiter_find(
        const AldSocketEffort *sender, const AldSocketEffort *receiver, bool steady)
{
        if (receiver->busy >= BUSY && receiver->busy >= sender->busy)
                return ALD_SOCKET_LIMITER_RECEIVER;
        if (sender->busy >= BUSY)
                return ALD_SOCKET_LIMITER_SENDER;
        if (sender->rwnd >= WAITING && sender->rwnd >= sender->sndbuf)
                return ALD_SOCKET_LIMITER_RECEIVER;
        if (sender->sndbuf >= WAITING)
                return ALD_SOCKET_LIMITER_SENDER;
        if (sender->idle >= IDLE)
                return ALD_SOCKET_LIMITER_APPLICATION;
        if (steady)
                return ALD_SOCKET_LIMITER_NETWORK;
        if (is_lossy(sender))
                return ALD_SOCKET_LIMITER_LOSS;
        if (sender->spare < SPARE || receiver->spare < SPARE)
                return sender->spare < receiver->spare ? ALD_SOCKET_LIMITER_SENDER
                                                       : ALD_SOCKET_LIMITER_RECEIVER;
        return sender->standing >= STANDING ? ALD_SOCKET_LIMITER_NETWORK : ALD_SOCKET_LIMITER_UNKNOWN;
}

AldEvaluatorBound ald_socket_limiter_bound(const AldSocketEffort *sender, const AldSocketEffort *receiver)
{
        bool sender_bound = sender->busy >= BUSY, receiver_bound = receiver->busy >= BUSY;

        if (sender_bound || receiver_bound)
                return (!sender_bound || sender->spare >= SPARE) &&
                                       (!receiver_bound || receiver->spare >= SPARE)
                               ? ALD_EVALUATOR_BOUND_SINGLY
                               : ALD_EVALUATOR_UNBOUND;
        if (sender->rwnd >= WAITING || sender->sndbuf >= WAITING)
                return ALD_EVALUATOR_BOUND_SINGLY;
        return is_lossy(sender) ? ALD_EVALUATOR_BOUND_BY_LOSS : ALD_EVALUATOR_UNBOUND;
}
