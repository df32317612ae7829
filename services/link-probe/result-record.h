/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/prober.h"

/* What became of a probe, as a record of its kind. */

/* The key of its link: free with g_free(). */
char *ald_result_key(const AldProbeTarget *target);

/* The failure beside the figures of what was before, which may be NULL. */
AldRecord *ald_result_failure(const char *own_id, const AldProbeTarget *target, const AldRecord *before,
        const char *reason, uint64_t realtime_usec);

/* Why the answer is no result of the target; NULL where it is one. Free with g_free(). */
char *ald_result_problem(const AldProbeTarget *target, const AldProbeAnswer *answer);

/* What limits the trust in a result: a list that ends in NULL. False where nothing does. */
#define ALD_RESULT_FLAGS_MAX 2u
bool ald_result_flags(const AldProbeTarget *target, const AldProbeAnswer *answer,
        const char *flags[static ALD_RESULT_FLAGS_MAX + 1]);

/* Of an answer without a problem. The record of a check has the interfaces of the path, round trips and the
 * rates of the spot check alone, and no MeasuredUSec; those rates are left out where other traffic disturbed
 * it. */
AldRecord *ald_result_success(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec);
