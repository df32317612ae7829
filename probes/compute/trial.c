/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "probes/compute/launches.h"
#include "probes/compute/trial.h"

#define TRIAL_SECONDS 0.1

int ald_trial_run(
        AldSession *session, AldLaunch launch, void *userdata, double *ret_seconds, AldFailure *failure)
{
        AldLaunches launches = {
                .session = session,
                .launch = launch,
                .userdata = userdata,
                .failure = failure,
        };
        double shortest = INFINITY, past = 0;
        AldSpan span;
        int r = ald_launches_once(&launches, &span);

        while (r >= 0 && past < TRIAL_SECONDS) {
                r = ald_launches_once(&launches, &span);
                if (r < 0)
                        break;
                shortest = MIN(shortest, span.wall);
                past += span.wall;
        }
        ald_launches_end(&launches);
        if (r >= 0)
                *ret_seconds = shortest;
        return r;
}
