/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/probe/prober.h"

/* Converts the outcome of a probe to a record of its link. The record covers this probe only; the state
 * service merges it with earlier ones (state/results/link-result.h). */

/* Returns the key of the link of a target; free with g_free(). */
char *ald_result_key(const AldProbeTarget *target);

AldRecord *ald_result_failure(
        const char *own_id, const AldProbeTarget *target, const char *reason, uint64_t realtime_usec);

/* Returns the record of a socket probe that ended without rates, with the path and the round trips of its
 * result. */
AldRecord *ald_result_without_rates(const char *own_id, const AldProbe *probe, const char *reason,
        const AldRecord *result, uint64_t realtime_usec);

/* Returns the record of a validated answer that is done. The record of a check has only the interfaces of the
 * path, round trips and the rates of the spot check, and no MeasuredUSec; these rates are omitted if other
 * traffic disturbed it. */
AldRecord *ald_result_success(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec);
