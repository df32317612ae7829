/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/compute/measure.h"
#include "probes/compute/session.h"

/* How a rate is measured. */
typedef struct AldMeterOptions {
        const AldMeasureOptions *measure; /* not NULL */
        const char *variant;              /* for options->progress */
        double seconds_max;               /* for settling and measuring; 0: all of those of `measure` */
        double theoretical;               /* rate above which the figure is suspect; 0: not known */
} AldMeterOptions;

/*
 * Enqueues one launch, of one kernel or several, on the queue of the session. ret is NULL where nobody asks
 * for the event. -errno with the failure of the one who gave it.
 */
typedef int (*AldLaunch)(void *userdata, cl_event *ret);

/*
 * Settles, then measures launches until the figure is sure enough or the time is over. Launches follow each
 * other without a gap all the while; the rate is that from the end of one to the end of a later one.
 */
int ald_meter_run(AldSession *session, const AldMeterOptions *options, AldLaunch launch, void *userdata,
        double work_per_launch, AldMeter *ret, AldFailure *failure);

/* The best rate within this time, to choose between several ways. Done once before, so that nothing is
 * compiled meanwhile. */
int ald_meter_try(AldSession *session, AldLaunch launch, void *userdata, double work_per_launch,
        double seconds, double *ret, AldFailure *failure);
