/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/compute/run/measure.h"

/*
 * Enqueues one launch, of one or several kernels or of a copy, on the queue of the session. ret is NULL if
 * the event is not needed. On failure, sets the failure of its provider and returns its negative errno.
 */
typedef int (*AldLaunch)(void *userdata, cl_event *ret);

/* The options of measuring a rate. */
typedef struct AldMeterOptions {
        const AldMeasureOptions *measure; /* not NULL */
        const char *variant;              /* for options->progress */
        double seconds_max;               /* for settling and measuring; 0 for that of `measure` */
        double theoretical;               /* rate above which the figure is suspect; 0 if unknown */
} AldMeterOptions;

/*
 * Runs launches until the rate has settled, then measures until the figure is certain enough or the time is
 * over. There are no gaps between launches; rates are measured from the end of one launch to the end of a
 * later one.
 */
int ald_meter_run(AldOpenclSession *session, const AldMeterOptions *options, AldLaunch launch, void *userdata,
        double work_per_launch, AldMeter *ret, AldFailure *failure);

/* Finds the best rate within this time, for choosing between variants. Runs the launch once before, so that
 * nothing is compiled during the measurement. */
int ald_meter_try(AldOpenclSession *session, AldLaunch launch, void *userdata, double work_per_launch,
        double seconds, double *ret, AldFailure *failure);
