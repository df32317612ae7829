/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Merges the results of this node's storage probes with earlier ones; both are Node1.Storage. */

/* The period of the budget of ald_storage_used(). */
#define ALD_STORAGE_DAY_USEC (UINT64_C(24) * 3600 * 1000 * 1000)

/* A file system that is no longer reported is kept for this long after the last attempt. */
#define ALD_STORAGE_KEPT_USEC (7 * ALD_STORAGE_DAY_USEC)

/*
 * Merges each file system as ald_row_result_merge() does. Its contents and the bytes read by an attempt
 * always count, even if the figures do not. Rows that `reported` lacks are removed after
 * ALD_STORAGE_KEPT_USEC.
 */
int ald_storage_result_merge(AldRecord *before, AldRecord *reported, uint64_t now_realtime, AldRecord **ret);

/* Removes rows without an attempt for ALD_STORAGE_KEPT_USEC, unless the record was updated since. Returns
 * NULL if there are none. */
AldRecord *ald_storage_result_prune(AldRecord *record, uint64_t now_realtime);

/*
 * Returns the bytes that probes have read from a file system since the last day without any. A caller that
 * never lets them exceed a limit reads no more than that in any 24 hours. If the last attempt is in the
 * future, the clock was set back, and they still count.
 */
uint64_t ald_storage_used(const AldStorageFileSystem *row, uint64_t now_realtime);
