/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/clock.h"
#include "probes/compute/launches.h"
#include "probes/compute/meter.h"

#define BATCHES 5.0 /* in the time */
#define LAUNCHES_MAX 4096.0

static int run(AldLaunches *launches, double work, double seconds, double *ret)
{
        AldSpan span;
        uint64_t end;
        double best;
        unsigned n;
        int r = ald_launches_once(launches, &span);

        end = ald_now() + (uint64_t) (seconds * ALD_NSEC_PER_SEC);
        if (r >= 0)
                r = ald_launches_once(launches, &span);
        if (r < 0)
                return r;
        best = work / MAX(span.wall, 1e-9);
        n = (unsigned) CLAMP(round(seconds / BATCHES / MAX(span.wall, 1e-9)), 1, LAUNCHES_MAX);
        while (ald_now() < end) {
                r = ald_launches_next(launches, n, &span);
                if (r < 0)
                        return r;
                if (span.n > 0 && span.wall > 0)
                        best = MAX(best, work * span.n / span.wall);
        }
        *ret = best;
        return 0;
}

int ald_meter_try(AldOpenclSession *session, AldLaunch launch, void *userdata, double work_per_launch,
        double seconds, double *ret, AldFailure *failure)
{
        AldLaunches launches = {
                .session = session, .launch = launch, .userdata = userdata, .failure = failure
        };
        int r = run(&launches, work_per_launch, seconds, ret);

        ald_launches_end(&launches);
        return r;
}
