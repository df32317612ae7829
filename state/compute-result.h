/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* What a probe of this node tells of its devices, put together with what was known; both Node1.Compute. */

/*
 * Device by device: a success takes the place of what was. A failure never does: what it did not measure
 * stays, and it is put beside that and counted. The same told again changes nothing, and a device that
 * is not told of stays as it is. `before` may be NULL. -E2BIG where it is too much for a record.
 */
int ald_compute_result_merge(AldRecord *before, AldRecord *told, AldRecord **ret);

/* Without the devices that this node no longer has, and has not tried to measure for `ttl_usec`. Returns NULL
 * where there are none; a node whose Node1.Backends is not known may have any. */
AldRecord *ald_compute_result_prune(
        AldRecord *record, const AldBackends *backends, uint64_t ttl_usec, uint64_t now_realtime);
