/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Merges the results of this node's compute probes with earlier ones; both are Node1.Compute. */

/*
 * Merges each device: a success replaces the earlier figures. A failure never does: figures that it did not
 * measure stay, and it is added beside them and counted. Merging the same record again changes nothing, and a
 * device that is not in `reported` stays as it is. `before` may be NULL. -E2BIG if the result exceeds the
 * size of a record.
 */
int ald_compute_result_merge(AldRecord *before, AldRecord *reported, AldRecord **ret);

/* Removes devices that this node no longer has and has not tried to measure for `ttl_usec`. Returns NULL if
 * there are none; if Node1.Backends of the node is unknown, none are removed. */
AldRecord *ald_compute_result_prune(
        AldRecord *record, const AldBackends *backends, uint64_t ttl_usec, uint64_t now_realtime);
