/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/measure.h"

/* The metrics of a device, in the order in which they are measured. */
typedef enum AldMetric {
        ALD_METRIC_GEMM,
        ALD_METRIC_READ,
        ALD_METRIC_COPY,
        ALD_METRIC_PEAK,
        ALD_METRIC_TO_DEVICE,
        ALD_METRIC_TO_HOST,
        _ALD_METRIC_MAX,
} AldMetric;

#define ALD_METRICS_ALL ((1u << _ALD_METRIC_MAX) - 1)

const char *ald_metric_to_string(AldMetric metric);

/* Returns _ALD_METRIC_MAX if the name is unknown. */
AldMetric ald_metric_from_string(const char *name);

/* Returns false for copies to and from a device that computes in host memory. */
bool ald_metric_applies(AldMetric metric, const AldOpenclTarget *device);

int ald_metric_measure(AldMetric metric, AldOpenclSession *session, const AldMeasureOptions *options,
        AldMeasure *ret, AldFailure *failure);
