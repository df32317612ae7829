/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "state/store/store.h"

/* Computes when a path is due from its row alone. Times are CLOCK_REALTIME in µs. */
typedef enum AldDueReason {
        ALD_DUE_NEVER,   /* not measured yet */
        ALD_DUE_FUTURE,  /* measured, or failed, later than now: the clock was set back */
        ALD_DUE_CHANGED, /* something has changed since, according to the record */
        ALD_DUE_EXPIRED, /* measured too long ago */
        ALD_DUE_FAILED,  /* failed, and has waited long enough since */
        ALD_DUE_DRIVER,  /* measured with another driver version */
} AldDueReason;

const char *ald_due_reason_to_string(AldDueReason reason);

/* After n consecutive failures the next attempt waits for 2^(n-1) times the minimum, at most for the maximum.
 * A deterministic part of up to a quarter is subtracted, so that paths which failed together are not retried
 * together. An address that is not on a link of the source may belong to any host, since only its node claims
 * it: until it has answered once, it waits for 4^(n-1) times the minimum, up to a longer maximum. */
#define ALD_PATH_RETRY_MIN_USEC (UINT64_C(60) * 1000 * 1000)
#define ALD_PATH_RETRY_MAX_USEC (UINT64_C(3600) * 1000 * 1000)
#define ALD_PATH_RETRY_ROUTED_MAX_USEC (UINT64_C(6) * 3600 * 1000 * 1000)

/* After this many consecutive failures of the node responsible for a path, the other node measures it. */
#define ALD_FAILURES_GIVE_UP 3u

typedef struct AldPathState {
        bool due;
        AldDueReason reason;
        uint64_t since; /* absent with "never", "future" and "driver" */
} AldPathState;

/* The attempts to measure a path, according to its row; any time or number may be absent. */
typedef struct AldAttempts {
        uint64_t measured_usec, failed_usec, failures;
        bool routed; /* to an address that is not on a link of the source */
} AldAttempts;

#define ALD_ATTEMPTS_NONE ((AldAttempts){ ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, false })

AldPathState ald_attempts_state(const AldAttempts *attempts, uint64_t seed, uint64_t ttl_usec, uint64_t now);

/* Returns the number of failed attempts since the last success; 0 if the last attempt succeeded. */
uint64_t ald_attempts_failures(const AldAttempts *attempts);

/* Reads the attempts of a row over sockets, which may be NULL. */
AldAttempts ald_path_attempts(const AldLinkSocket *row);
uint64_t ald_path_failures(const AldLinkSocket *row);

/* Returns a number that depends only on the path and is the same on every machine. */
uint64_t ald_path_seed(const AldId *source, const AldId *sink, const char *address);

/* Returns the source's record of the path over sockets, or NULL. */
const AldLinkSocket *ald_path_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address);
