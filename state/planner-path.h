/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/* When one path is to be measured: what the planner knows of a row alone. Times are CLOCK_REALTIME in µs. */
typedef enum AldDueReason {
        ALD_DUE_NEVER,   /* not measured yet */
        ALD_DUE_FUTURE,  /* measured, or failed, later than now: the clock was set back */
        ALD_DUE_CHANGED, /* something changed since, as the record says */
        ALD_DUE_EXPIRED, /* measured too long ago */
        ALD_DUE_FAILED,  /* failed, and waited since */
        ALD_DUE_DRIVER,  /* measured with another driver */
} AldDueReason;

const char *ald_due_reason_to_string(AldDueReason reason);

/* After n failures in a row the next attempt waits for 2^(n-1) of the first, at most for the other. A
 * deterministic share of up to a quarter is taken off, so that paths which failed together do not come back
 * together. */
#define ALD_BACK_OFF_MIN_USEC (UINT64_C(60) * 1000 * 1000)
#define ALD_BACK_OFF_MAX_USEC (UINT64_C(3600) * 1000 * 1000)

/* From so many failures in a row of the node that is to measure a path, the other one measures it. */
#define ALD_FAILURES_GIVE_UP 3u

typedef struct AldPathState {
        bool due;
        AldDueReason reason;
        uint64_t since; /* absent with "never", "future" and "driver" */
} AldPathState;

/* What a row says of attempts to measure it; anything may be absent. */
typedef struct AldAttempts {
        uint64_t measured_usec, failed_usec, failures;
} AldAttempts;

#define ALD_ATTEMPTS_NONE ((AldAttempts){ ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64 })

AldPathState ald_attempts_judge(const AldAttempts *attempts, uint64_t seed, uint64_t ttl_usec, uint64_t now);

/* Attempts that failed since the last success; 0 where the last attempt did not. */
uint64_t ald_attempts_failures(const AldAttempts *attempts);

/* Of a row over sockets, which may be NULL. */
AldAttempts ald_path_attempts(const AldLinkSocket *row);
uint64_t ald_path_failures(const AldLinkSocket *row);

/* The same number for the same path, each time and everywhere. */
uint64_t ald_path_seed(const AldId *source, const AldId *sink, const char *address);
