/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/compute/measure.h"
#include "probes/compute/session.h"

/* How a rate is measured. */
typedef struct AldMeterOptions {
        const AldMeasureOptions *measure; /* seconds_max of all of it, whom to tell; not NULL */
        const char *variant;              /* to tell of */
        double theoretical;               /* rate above which the figure is suspect; 0: not known */
} AldMeterOptions;

/* Enqueues one launch on the queue of the session. -errno with the failure of the one who gave it. */
typedef int (*AldLaunch)(void *userdata, cl_event *ret);

/* Settles, then measures launches until the figure is sure enough or the time is over. */
int ald_meter_run(AldSession *session, const AldMeterOptions *options, AldLaunch launch, void *userdata,
        double work_per_launch, AldMeter *ret, AldFailure *failure);
