/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What holds a rate down. Pure. */
typedef enum AldLimiter {
        ALD_LIMITER_NETWORK,
        ALD_LIMITER_RECEIVER,
        ALD_LIMITER_SENDER,
        ALD_LIMITER_APPLICATION,
        _ALD_LIMITER_MAX,
} AldLimiter;

const char *ald_limiter_to_string(AldLimiter limiter);

/* What one side knows of its part lately, in permille: of the time of its busiest connection. */
typedef struct AldEffort {
        uint64_t busy;     /* its thread ran, or waited for a processor */
        uint64_t rwnd;     /* it waited for the receiver to make room (sender only) */
        uint64_t sndbuf;   /* it waited for room of its own (sender only) */
        uint64_t idle;     /* it had nothing to send (sender only) */
        uint64_t spare;    /* processors that were idle, in thousandths of one */
        uint64_t lost;     /* segments sent again, in millionths (sender only) */
        uint64_t standing; /* its round trip as a multiple of the least, in thousandths (sender only) */
} AldEffort;

AldLimiter ald_limiter_find(const AldEffort *sender, const AldEffort *receiver);

/* Whether more connections may be faster: what limits does so each connection on its own. */
bool ald_limiter_streams_may_help(const AldEffort *sender, const AldEffort *receiver);
