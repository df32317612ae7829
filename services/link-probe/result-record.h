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

/* -EBADMSG where the answer has no rates, -EXDEV where it is of other ports. */
int ald_result_success(const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime_usec, AldRecord **ret);
