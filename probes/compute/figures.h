/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/progress.h"
#include "probes/compute/metric.h"
#include "probes/compute/options.h"
#include "probes/compute/runner.h"

/* What was found of a device: of each metric that was wanted an answer or a failure. */
typedef struct AldFigures {
        bool known[_ALD_METRIC_MAX];
        AldAnswer answers[_ALD_METRIC_MAX];
        AldFailure failures[_ALD_METRIC_MAX];
        uint64_t measured; /* µs of CLOCK_REALTIME */
} AldFigures;

/* Measures in children; what crashed or hung is tried once again with the next simpler variant. */
void ald_figures_measure(const AldRunner *runner, const AldComputeOptions *options, const AldDevice *device,
        AldProgress *progress, AldFigures *ret);
void ald_figures_clear(AldFigures *figures);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldFigures, ald_figures_clear)

/* Flags a product that is faster than registers alone, as suspect: devices do not tell what it may be in
 * theory. */
void ald_figures_judge(AldFigures *figures);

/* Whether any metric is known. */
bool ald_figures_any(const AldFigures *figures);

/* Whether the program was told to stop. */
bool ald_figures_aborted(const AldFigures *figures);
