/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Merges the results of this node's compute probes with earlier ones; both are Node1.Compute. */

/* Merges each device as ald_row_result_merge() does. After an attempt that failed in part, the earlier
 * figures of the metrics that it lacks stay. A figure that was measured beside other work does not replace
 * one that was not. */
int ald_compute_result_merge(AldRecord *before, AldRecord *reported, AldRecord **ret);

/* Removes devices that this node no longer has and has not tried to measure for `ttl_usec`. Returns NULL if
 * there are none; if Node1.Backends of the node is unknown, none are removed. */
AldRecord *ald_compute_result_prune(
        AldRecord *record, const AldBackends *backends, uint64_t ttl_usec, uint64_t now_realtime);
