/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/plan/plan-progress.h"

void ald_plan_progress_divide(AldPlanProgress *progress, double until, uint32_t parts)
{
        progress->part = (until - progress->to) / MAX(parts, 1);
}

static bool report_progress(AldPlanProgress *progress, double fraction)
{
        const AldPlanRequest *request = progress->request;

        progress->reported = CLAMP(fraction, progress->reported, 1);
        if (!progress->given_up && request->proceed)
                progress->given_up = !request->proceed(progress->reported, request->userdata);
        if (progress->may_stop && !progress->stopped && request->is_late)
                progress->stopped = request->is_late(request->userdata);
        return !progress->given_up && !progress->stopped;
}

bool ald_plan_progress_next(AldPlanProgress *progress)
{
        progress->from = progress->to;
        progress->to = MIN(progress->from + progress->part, 1);
        return report_progress(progress, progress->from);
}

bool ald_plan_progress_may_continue(AldPlanProgress *progress)
{
        return report_progress(progress, progress->reported);
}

bool ald_plan_progress_proceed(void *progress)
{
        return ald_plan_progress_may_continue(progress);
}

bool ald_plan_progress_within(AldPlanProgress *progress, uint32_t done, uint32_t all)
{
        return report_progress(progress, progress->from + (progress->to - progress->from) * done / all);
}
