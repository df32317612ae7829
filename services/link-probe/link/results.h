/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/probe/prober.h"
#include "state/link/path-candidates.h"

/*
 * The outcome of the last probe of each path, as records with either figures or a failure. The state service
 * merges them with earlier ones. Records that have not been renewed for long are dropped; the state service
 * has stored them by then.
 */
typedef struct AldResults AldResults;

#define ALD_RESULTS_MAX 1024u
#define ALD_RESULT_KEPT_USEC (UINT64_C(2) * 3600 * 1000 * 1000)

/* Called with NULL as the record if the one of the path with this key was dropped. */
typedef void (*AldResultsChanged)(AldKind kind, const char *key, const AldRecord *record, void *userdata);

AldResults *ald_results_new(const char *own_id);
void ald_results_free(AldResults *results);

/* Sets the callback for each change, or NULL for none. */
void ald_results_watch(AldResults *results, AldResultsChanged changed, void *userdata);

/* Stores an answer; one that is neither a result nor a failure changes nothing. The times are CLOCK_REALTIME
 * and CLOCK_MONOTONIC in µs. */
void ald_results_take(AldResults *results, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime, uint64_t now);

/* Stores the failure of a path whose probe could not be started. */
void ald_results_fail(AldResults *results, const AldProbeTarget *target, const char *reason,
        uint64_t realtime, uint64_t now);

/* Returns whether the last attempt reached the address of the peer. */
bool ald_results_reached(const AldResults *results, const char *peer, const char *address);

/* Returns whether the path with this key has had a rate since the start. */
bool ald_results_have_rate(const AldResults *results, const char *key);

/* Chooses the interface through which to try a path, as ald_candidate_choose() does, from the results so
 * far. */
const AldInterface *ald_results_choose(
        const AldResults *results, const char *peer, const AldCandidate *candidate);

/* Notes a rate that another node measured through an interface of this machine. */
void ald_results_note_rate(AldResults *results, const char *interface, uint64_t rate);

/* Returns the greatest rate that was measured through an interface in either direction; absent if none
 * was. */
uint64_t ald_results_rate(const AldResults *results, const char *interface);

void ald_results_expire(AldResults *results, uint64_t now);
