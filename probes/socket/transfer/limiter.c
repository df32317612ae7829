/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/socket/transfer/limiter.h"

#define BUSY 850u    /* permille: the thread is close to its limit */
#define WAITING 300u /* permille of the time: it shows which side is waited for */
#define IDLE 500u
#define SPARE 500u     /* half a processor: with less, another thread only slows down the first */
#define LOST 100u      /* millionths: loss without a queue does not mean that the link is full */
#define STANDING 1500u /* thousandths of the shortest round trip: there is a queue */

AldSocketVerdictLimiter ald_limiter_find(const AldSocketEffort *sender, const AldSocketEffort *receiver)
{
        if (receiver->busy >= BUSY && receiver->busy >= sender->busy)
                return ALD_SOCKET_VERDICT_LIMITER_RECEIVER;
        if (sender->busy >= BUSY)
                return ALD_SOCKET_VERDICT_LIMITER_SENDER;
        if (sender->rwnd >= WAITING && sender->rwnd >= sender->sndbuf)
                return ALD_SOCKET_VERDICT_LIMITER_RECEIVER;
        if (sender->sndbuf >= WAITING)
                return ALD_SOCKET_VERDICT_LIMITER_SENDER;
        if (sender->idle >= IDLE)
                return ALD_SOCKET_VERDICT_LIMITER_APPLICATION;
        return ALD_SOCKET_VERDICT_LIMITER_NETWORK;
}

bool ald_limiter_streams_may_help(const AldSocketEffort *sender, const AldSocketEffort *receiver)
{
        bool sender_bound = sender->busy >= BUSY, receiver_bound = receiver->busy >= BUSY;

        if (sender_bound || receiver_bound)
                return (!sender_bound || sender->spare >= SPARE) &&
                       (!receiver_bound || receiver->spare >= SPARE);
        if (sender->rwnd >= WAITING || sender->sndbuf >= WAITING)
                return true;
        return sender->lost >= LOST && sender->standing < STANDING;
}
