/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/compute/compute-jobs.h"
#include "services/common/errors.h"
#include "services/link-probe/job/jobs-private.h"

struct AldComputeJobs {
        AldComputeJobsParts parts;
};

AldComputeJobs *ald_compute_jobs_new(const AldComputeJobsParts *parts)
{
        AldComputeJobs *jobs = g_new0(AldComputeJobs, 1);

        jobs->parts = *parts;
        return jobs;
}

void ald_compute_jobs_free(AldComputeJobs *jobs)
{
        g_free(jobs);
}

static void on_progress(AldProbe *probe, const char *phase, double fraction, void *userdata)
{
        ald_job_report_progress(userdata, phase, fraction);
}

/* Joins the results so far with this one; keeps the former if both do not fit. */
static AldRecord *join(const AldJob *job, const char *device, AldRecord *measured)
{
        AldRecord *joined;

        if (!job->result)
                return ald_record_ref(measured);
        if (job->kind->join(job->result, measured, &joined) >= 0)
                return joined;
        g_warning("The result of job %u is full; omitting %s", job->number, device);
        return ald_record_ref(job->result);
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        const AldProbeTarget *target = ald_probe_target(probe);
        AldJob *job = userdata;
        const AldComputeJobs *jobs = job->context;
        g_autoptr(AldRecord) joined = answer->result ? join(job, target->device, answer->result) : NULL;
        const AldProbeAnswer whole = {
                .verdict = answer->verdict, .reason = answer->reason, .result = joined
        };

        job->running = NULL;
        jobs->parts.measured(probe, answer, jobs->parts.userdata);
        ald_job_ended(job, &whole);
}

static int start(AldJob *job, char **ret_reason)
{
        static const AldProbeHandler handler = { .progress = on_progress, .ended = on_ended };
        const AldComputeJobs *jobs = job->context;
        const AldProbeTarget *target = &g_array_index(job->targets, AldProbeTarget, job->next);
        char *obstacle = jobs->parts.in_the_way(target, jobs->parts.userdata);
        AldProbe *probe;
        int r;

        if (obstacle) {
                *ret_reason = obstacle;
                return -ALD_E_BUSY;
        }
        r = ald_prober_start(jobs->parts.prober, target, &handler, job, &probe);
        if (r == -ALD_E_BUSY)
                return r;
        g_free(job->device);
        job->device = g_strdup(target->device);
        if (r >= 0)
                job->running = probe;
        else
                *ret_reason = g_strdup_printf("cannot measure %s: %s", target->device, g_strerror(-r));
        return r;
}

static void end(AldJob *job, const char *reason)
{
        ald_probe_end(job->running, reason);
}

AldJob *ald_compute_jobs_add(AldComputeJobs *jobs, uid_t uid, GArray *targets)
{
        static const AldJobTask task = { .start = start, .end = end };

        return ald_job_new(jobs->parts.jobs, &task, jobs, uid, g_strdup(jobs->parts.own_id), targets);
}
