/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/prober.h"

/* The outcome of a probe, as a record of its link. It covers this probe only; the state service merges it
 * with earlier ones (state/link-result.h). */

/* The key of its link: free with g_free(). */
char *ald_result_key(const AldProbeTarget *target);

/* Applies the rules that hold across fields to a result: if it does not fit the target or lacks what it
 * should have, it becomes a failure, else it gets its Flags. Other answers stay as they are. */
void ald_result_judge(const AldProbeTarget *target, AldProbeAnswer *answer);

/* Whether a result is that of a check: only round trips, and possibly a spot check, were measured. */
bool ald_result_is_check(const AldRecord *result);

/* The fields of a result over sockets that the record of the link has, too. They borrow from it; the rest is
 * absent. */
AldLinkSocket ald_result_link(const AldRecord *result);

AldRecord *ald_result_failure(
        const char *own_id, const AldProbeTarget *target, const char *reason, uint64_t realtime_usec);

/* Of a judged answer that is done. The record of a check has the interfaces of the path, round trips and the
 * rates of the spot check alone, and no MeasuredUSec; those rates are left out if other traffic disturbed it.
 */
AldRecord *ald_result_success(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec);
