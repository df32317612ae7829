/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/prober.h"
#include "state/record.h"

/* What became of a probe, as a record of its kind. */

/* The key of its link: free with g_free(). */
char *ald_result_key(const AldProbeTarget *target);

/* The failure beside the figures of what was before, which may be NULL. */
AldRecord *ald_result_failure(const char *own_id, const AldProbeTarget *target, const AldRecord *before,
        const char *reason, uint64_t realtime_usec);

/* What limits the trust in a result: a list that ends in NULL. False where nothing does, or the answer has no
 * figures. */
#define ALD_RESULT_FLAGS_MAX 2u
bool ald_result_flags(AldTransport transport, const AldProbeAnswer *answer,
        const char *flags[static ALD_RESULT_FLAGS_MAX + 1]);

/*
 * -EBADMSG where the answer has no figures, -EXDEV where it is of other ports. The record of a check has
 * round trips and the rates of the spot check alone, and no MeasuredUSec; the latter are left out where other
 * traffic disturbed it.
 */
int ald_result_success(const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime_usec, AldRecord **ret);
