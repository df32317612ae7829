/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/*
 * Finds the processes that hold DRM and accel devices. Each answer reads those anew that held one before, and
 * a part of all others, so that all are read in ALD_PROCESS_SCAN_PARTS answers; the first answer reads all.
 */
typedef struct AldProcessScan AldProcessScan;

#define ALD_PROCESS_SCAN_PARTS 6u

/* At most so many holders are known at a time, and so many devices that they hold, those with the most
 * memory, then the most work; both they and the others are read for at most so long in an answer: a twentieth
 * of the time each. What is left is read with the next answers; of the holders, each gets an equal share of
 * the time. One that was not read for longer than PARTS answers is not listed. */
#define ALD_PROCESS_SCAN_HOLDERS_MAX 1024u
#define ALD_PROCESS_SCAN_HOLDS_MAX (4 * ALD_PROCESS_SCAN_HOLDERS_MAX)
#define ALD_PROCESS_SCAN_USEC (250 * G_TIME_SPAN_MILLISECOND)

/* `root` is as in services/common/sysroot.h. */
AldProcessScan *ald_process_scan_new(int root);
void ald_process_scan_free(AldProcessScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldProcessScan, ald_process_scan_free)

/* Answers a request with a ProcessesAnswer of at most so many bytes, with fewer rows if need be: those that
 * hold less, and of the processes that the request names as many as leave room for half of the rows. Free
 * with g_free(). */
char *ald_process_scan_answer(AldProcessScan *scan, const AldRecord *request, size_t max_bytes);
