/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/probe/probe-answer.h"
#include "services/link-probe/probe/probe-target.h"

/* Reads the output of alidade-probe-storage: lines of progress, then its result, checked against the schema
 * (record/messages/storage.xml). */

/*
 * Reads the output, whose last line is the result. `failure` is as in probe-child.h. If the verdict is done,
 * the result is a Message1.StorageResult of that one file system. A failure may have a result as well, with
 * the number of bytes that were read. If other programs used its disks, the result is a failure that says so,
 * unless the probe was forced.
 */
void ald_storage_answer_read(
        const char *output, const char *failure, const char *file_system, bool force, AldProbeAnswer *ret);

/* Returns how many bytes were read; absent if the answer does not contain that. */
uint64_t ald_storage_answer_bytes(const AldProbeAnswer *answer);

/* Converts the result to Node1.Storage of that file system alone. */
int ald_storage_answer_record(
        const AldProbeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec, AldRecord **ret);

/* Reads a line of progress. The caller frees the phase; the fraction is 0 to 1. Returns -EBADMSG if it is not
 * such a line. */
int ald_storage_progress_read(const char *line, char **ret_phase, double *ret_fraction);
