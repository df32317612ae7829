/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/link-probe/probe/probe-answer.h"
#include "services/link-probe/probe/probe-target.h"

/* Reads the output of alidade-probe-compute: lines of progress, then its result. Drivers influence it, so
 * everything is checked against the schema (record/messages/compute.xml). */

typedef enum AldComputeMetric {
        ALD_COMPUTE_GEMM = 1 << 0,
        ALD_COMPUTE_READ = 1 << 1,
        ALD_COMPUTE_COPY = 1 << 2,
        ALD_COMPUTE_PEAK = 1 << 3,
        ALD_COMPUTE_TO_DEVICE = 1 << 4,
        ALD_COMPUTE_TO_HOST = 1 << 5,
} AldComputeMetric;

#define ALD_COMPUTE_METRICS 6u
#define ALD_COMPUTE_ALL ((1u << ALD_COMPUTE_METRICS) - 1)

/* Returns the bit of a metric, or 0 if the name is unknown. */
unsigned ald_compute_metric_parse(const char *name);
/* Returns the names of a set of metrics, separated by commas. Free with g_free(). */
char *ald_compute_metrics_format(unsigned metrics);

/* Returns the target for a device. It is partial unless all metrics that apply to the device are measured. */
AldProbeTarget ald_compute_target(
        const AldProbeKind *kind, const AldBackend *backend, unsigned metrics, bool force);
/* Returns the metrics that the probe will measure: if all are requested, those that apply to the device. */
unsigned ald_compute_target_metrics(const AldProbeTarget *target);

/*
 * Reads the output, whose last line is the result. `failure` is as in probe-child.h. If the verdict is done,
 * the result is a Message1.ComputeResult of that one device, possibly with errors, all under the Id `device`.
 * If other work used the device, the result is a failure that says so, unless the probe was forced and has
 * measured something.
 */
void ald_compute_answer_read(
        const char *output, const char *failure, const char *device, bool force, AldProbeAnswer *ret);

/* Converts the result to Node1.Compute of that device alone; -E2BIG if it exceeds the limit of a record. */
int ald_compute_answer_record(
        const AldProbeTarget *target, const AldProbeAnswer *answer, uint64_t realtime_usec, AldRecord **ret);

/* Reads a line of progress. The caller frees the phase; the fraction, 0 to 1, covers all these metrics.
 * Returns -EBADMSG if it is not such a line. */
int ald_compute_progress_read(const char *line, unsigned metrics, char **ret_phase, double *ret_fraction);
