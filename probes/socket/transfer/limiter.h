/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/evaluator.h"
#include "record/schema.h"

/* Finds what limits a rate from the efforts of both sides. Pure. */

typedef enum AldSocketLimiter {
        ALD_SOCKET_LIMITER_UNKNOWN,
        ALD_SOCKET_LIMITER_NETWORK, /* the link is full */
        ALD_SOCKET_LIMITER_LOSS,    /* segments get lost although it is not */
        ALD_SOCKET_LIMITER_RECEIVER,
        ALD_SOCKET_LIMITER_SENDER,
        ALD_SOCKET_LIMITER_APPLICATION,
} AldSocketLimiter;

/* Returns NULL for an unknown limiter. */
const char *ald_socket_limiter_to_string(AldSocketLimiter limiter);

/* Returns the unknown limiter for any other word. */
AldSocketLimiter ald_socket_limiter_from_string(const char *word);

/* `steady` is true if the rate hardly varies and the link never waits, as if it is full. */
AldSocketLimiter ald_socket_limiter_find(
        const AldSocketEffort *sender, const AldSocketEffort *receiver, bool steady);

/* Returns whether more connections may be faster, because each connection is limited separately. */
AldEvaluatorBound ald_socket_limiter_bound(const AldSocketEffort *sender, const AldSocketEffort *receiver);
