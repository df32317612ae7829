/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/probe-answer.h"

/* What alidade-probe-compute says: its result, and lines before that. Drivers of all kinds have had a hand in
 * it, so all of it is checked against the schema (record/messages/compute.xml). */

typedef enum AldComputeMetric {
        ALD_COMPUTE_GEMM = 1 << 0,
        ALD_COMPUTE_READ = 1 << 1,
        ALD_COMPUTE_COPY = 1 << 2,
        ALD_COMPUTE_PEAK = 1 << 3,
} AldComputeMetric;

#define ALD_COMPUTE_METRICS 4u
#define ALD_COMPUTE_ALL ((1u << ALD_COMPUTE_METRICS) - 1)

/* The bit of a name, 0 where it is none. */
unsigned ald_compute_metric_parse(const char *name);
/* The names of a set, with commas between. Free with g_free(). */
char *ald_compute_metrics_format(unsigned metrics);

/*
 * Of the output, whose last line is the result. `failure` is as in probe-child.h. If it is done, the result
 * is a Message1.ComputeResult of that one device, maybe with errors, all under the Id of `device`. A result
 * of a device that met other work is a failure, unless it was forced.
 */
void ald_compute_answer_read(
        const char *output, const char *failure, const char *device, bool force, AldProbeAnswer *ret);

/* Whether a reason says that the device met other work. */
bool ald_compute_answer_is_busy(const char *reason);

/* One result with the devices and errors of two; -E2BIG if that is more than a record may hold. */
int ald_compute_answer_join(const AldRecord *before, const AldRecord *after, AldRecord **ret);

/* The result as Node1.Compute of that device alone; -E2BIG if it is more than a record may hold. */
int ald_compute_answer_record(
        const AldProbeAnswer *answer, const char *driver_version, uint64_t realtime_usec, AldRecord **ret);

/* A line of progress: what is done, to be freed, and how far it is with all of these metrics, 0 to 1.
 * -EBADMSG where it is no such line. */
int ald_compute_progress_read(const char *line, unsigned metrics, char **ret_phase, double *ret_fraction);
