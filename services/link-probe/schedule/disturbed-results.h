/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-answer.h"

/* Tracks automatic measurements that are repeated later because other traffic disturbed them. Their results
 * are discarded, except on a path that is always disturbed. */
typedef struct AldDisturbedResults AldDisturbedResults;

#define ALD_DISTURBED_RESULTS_MAX 1024u

/* Three times the time to live of figures that are new or change. The state service applies longer ones when
 * it decides whether a disturbed result replaces an older one. */
#define ALD_DISTURBED_MAX_USEC (UINT64_C(15) * 60 * 1000 * 1000)

AldDisturbedResults *ald_disturbed_results_new(void);
void ald_disturbed_results_free(AldDisturbedResults *disturbed);

/* Returns whether to discard this answer about the path (a key); if so, fills in the answer to use in its
 * place. The time is CLOCK_MONOTONIC in µs. */
bool ald_disturbed_results_defer(AldDisturbedResults *disturbed, const char *path,
        const AldProbeAnswer *answer, uint64_t now, AldProbeAnswer *ret);
