/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/probe-progress.h"
#include "probes/compute/compute-options.h"
#include "probes/compute/metric.h"
#include "probes/compute/run/runner.h"

/* The results for a device: for each requested metric an answer or a failure. */
typedef struct AldFigures {
        AldRecord *answers[_ALD_METRIC_MAX]; /* Message1.ComputeMeasure, or NULL */
        AldFailure failures[_ALD_METRIC_MAX];
        bool suspect;      /* the matrix product is suspect */
        uint64_t measured; /* µs of CLOCK_REALTIME */
} AldFigures;

/* Returns the measurement of a metric, or NULL. */
const AldComputeMeasure *ald_figures_of(const AldFigures *figures, AldMetric metric);
/* Returns the AldFlags of a metric; 0 if it was not measured. */
unsigned ald_figures_flags(const AldFigures *figures, AldMetric metric);

/* Measures in child processes, and tries once more with the next simpler variant after a crash or hang. If
 * all metrics are requested, those that do not apply to the device are left out; if they are named, they fail
 * as no-device-memory. */
void ald_figures_measure(const AldRunner *runner, const AldComputeOptions *options,
        const AldOpenclTarget *device, AldProgress *progress, AldFigures *ret);
void ald_figures_clear(AldFigures *figures);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldFigures, ald_figures_clear)

/* Marks a matrix product that is faster than PeakTflops as suspect, since devices do not report their
 * limit. */
void ald_figures_check(AldFigures *figures);

/* Returns whether any metric was measured. */
bool ald_figures_any(const AldFigures *figures);

/* Returns whether the program was requested to stop. */
bool ald_figures_aborted(const AldFigures *figures);
