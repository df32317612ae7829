/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/plan/progress.h"

void ald_plan_progress_divide(AldPlanProgress *progress, double until, uint32_t parts)
{
        progress->part = (until - progress->to) / MAX(parts, 1);
}

static bool tell(AldPlanProgress *progress, double fraction)
{
        const AldPlanRequest *request = progress->request;

        progress->told = CLAMP(fraction, progress->told, 1);
        if (!progress->given_up && request->proceed)
                progress->given_up = !request->proceed(progress->told, request->userdata);
        return !progress->given_up;
}

bool ald_plan_progress_next(AldPlanProgress *progress)
{
        progress->from = progress->to;
        progress->to = MIN(progress->from + progress->part, 1);
        return tell(progress, progress->from);
}

bool ald_plan_progress_goes_on(AldPlanProgress *progress)
{
        return tell(progress, progress->told);
}

bool ald_plan_progress_proceed(void *progress)
{
        return ald_plan_progress_goes_on(progress);
}

bool ald_plan_progress_within(AldPlanProgress *progress, uint32_t done, uint32_t all)
{
        return tell(progress, progress->from + (progress->to - progress->from) * done / all);
}
