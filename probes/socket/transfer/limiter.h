/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/evaluator.h"
#include "record/schema.h"

/* Pure: what limits a rate, by the efforts of both sides. */

typedef enum AldSocketLimiter {
        ALD_SOCKET_LIMITER_UNKNOWN,
        ALD_SOCKET_LIMITER_NETWORK, /* the link is full */
        ALD_SOCKET_LIMITER_LOSS,    /* segments get lost although it is not */
        ALD_SOCKET_LIMITER_RECEIVER,
        ALD_SOCKET_LIMITER_SENDER,
        ALD_SOCKET_LIMITER_APPLICATION,
} AldSocketLimiter;

/* NULL if it is unknown. */
const char *ald_socket_limiter_to_string(AldSocketLimiter limiter);

/* Unknown for any other word. */
AldSocketLimiter ald_socket_limiter_from_string(const char *word);

/* steady: the rate hardly varies, and the link never waits, as one that is full. */
AldSocketLimiter ald_socket_limiter_find(
        const AldSocketEffort *sender, const AldSocketEffort *receiver, bool steady);

/* Whether more connections may be faster, because what limits the rate limits each connection separately. */
AldEvaluatorBound ald_socket_limiter_bound(const AldSocketEffort *sender, const AldSocketEffort *receiver);
