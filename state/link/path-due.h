/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "state/store/store.h"

/* When a path is due, according to its row only. Times are CLOCK_REALTIME in µs. */
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
 * together. An address that is not on a link of the source may be that of any host, since its node alone says
 * that it is its own: until it has answered once, it waits for 4^(n-1) times the minimum, and longer at most.
 */
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

/* Failed attempts since the last success; 0 if the last attempt succeeded. */
uint64_t ald_attempts_failures(const AldAttempts *attempts);

/* For a row over sockets, which may be NULL. */
AldAttempts ald_path_attempts(const AldLinkSocket *row);
uint64_t ald_path_failures(const AldLinkSocket *row);

/* A number that depends only on the path, on every machine. */
uint64_t ald_path_seed(const AldId *source, const AldId *sink, const char *address);

/* The source's record of the path over sockets, or NULL. */
const AldLinkSocket *ald_path_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address);

/* The time to live of results of this kind, if their records lack it; 0 if it is not measured. */
uint64_t ald_planner_ttl(AldKind kind);

/*
 * The time to live of the figures of a link. The interval between full measurements doubles while they agree.
 * A record shows this interval shifted by up to a fifth in either direction, depending only on the path and
 * the time of the measurement. Otherwise paths that were measured together, and distorted each other, would
 * be due together each time.
 */
#define ALD_LINK_TTL_MIN_USEC (UINT64_C(5) * 60 * 1000 * 1000)
#define ALD_LINK_TTL_MAX_USEC (UINT64_C(6) * 3600 * 1000 * 1000)

/* The longest interval of figures that are unsteady or suspect. */
#define ALD_LINK_TTL_DOUBTFUL_USEC (UINT64_C(30) * 60 * 1000 * 1000)

/* Interval of round trips and spot checks; they may be up to a fifth earlier. */
#define ALD_LINK_CHECK_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/* If the figures of the first measurement after a change are of no use, as on a busy machine, it is repeated
 * after the first of these times, until the second one has passed since the change. */
#define ALD_LINK_CHANGE_RETRY_USEC (UINT64_C(60) * 1000 * 1000)
#define ALD_LINK_CHANGE_URGENT_USEC (UINT64_C(5) * 60 * 1000 * 1000)

/* A check that contradicts the record is repeated after this time, unless no repetition has a result within
 * the second one: then the next regular check decides. */
#define ALD_LINK_REPEAT_USEC (UINT64_C(10) * 1000 * 1000)
#define ALD_LINK_REPEAT_MOST_USEC (UINT64_C(180) * 1000 * 1000)

/* A check that found no rate though it was to find one, such as on a busy machine, is repeated after this
 * time, until the second one has passed since the last rate. */
#define ALD_LINK_SPOT_RETRY_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_LINK_SPOT_RETRY_MOST_USEC (2 * ALD_LINK_CHECK_USEC)

/* A disturbed result replaces an undisturbed one only if that is older than this many times its time to
 * live. */
#define ALD_LINK_TTL_DISTURBED 3u

/* The limits of the interval of a path; equal if it is fixed. */
typedef struct AldTtlBounds {
        uint64_t least, most;
} AldTtlBounds;

#define ALD_TTL_BOUNDS_NONE ((AldTtlBounds){ 0, UINT64_MAX })

/* Converts an interval to the shown one. */
uint64_t ald_link_ttl_shift(uint64_t interval, uint64_t seed, uint64_t measured);
/* Converts back. */
uint64_t ald_link_ttl_interval(uint64_t shown, uint64_t seed, uint64_t measured);

/* Moves a shown interval, or the fallback if that is absent, into the bounds. */
uint64_t ald_link_ttl_bound(
        uint64_t shown, uint64_t fallback, uint64_t seed, uint64_t measured, const AldTtlBounds *bounds);

/* When a path is due for its next check. */
uint64_t ald_link_check_due(uint64_t checked, uint64_t seed);
