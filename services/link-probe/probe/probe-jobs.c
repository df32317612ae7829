/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/probe/probe-jobs.h"
#include "services/common/errors.h"
#include "services/link-probe/job/jobs-private.h"
#include "services/link-probe/net/route.h"

struct AldLinkJobs {
        AldJobs *jobs;
        AldProber *prober;
        AldJobsMeasured measured;
        void *userdata;
};

AldLinkJobs *ald_link_jobs_new(AldJobs *jobs, AldProber *prober, AldJobsMeasured measured, void *userdata)
{
        AldLinkJobs *links = g_new(AldLinkJobs, 1);

        *links = (AldLinkJobs){ jobs, prober, measured, userdata };
        return links;
}

void ald_link_jobs_free(AldLinkJobs *links)
{
        g_free(links);
}

AldJobs *ald_link_jobs_all(AldLinkJobs *links)
{
        return links->jobs;
}

static void on_progress(AldProbe *probe, const char *phase, double fraction, void *userdata)
{
        ald_job_report_progress(userdata, phase, fraction);
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        AldJob *job = userdata;
        AldLinkJobs *links = job->context;

        job->running = NULL;
        links->measured(probe, answer, links->userdata);
        ald_job_ended(job, answer);
}

static const AldProbeTarget *target_of(const AldJob *job)
{
        return &g_array_index(job->targets, AldProbeTarget, job->next);
}

static void describe(const AldJob *job, AldJobPathRow *row)
{
        const AldProbeTarget *target = target_of(job);

        row->address = target->address;
        row->source_port = target->source_port;
        row->sink_port = target->sink_port;
}

static int start(AldJob *job, char **ret_reason)
{
        static const AldProbeHandler handler = { .progress = on_progress, .ended = on_ended };
        const AldLinkJobs *links = job->context;
        const AldProbeTarget *target = target_of(job);
        AldProbe *probe;
        int r = ald_prober_start(links->prober, target, &handler, job, &probe);

        if (r >= 0)
                job->running = probe;
        if (r != -ALD_E_BUSY) {
                g_free(job->address);
                job->address = g_strdup(target->address);
                g_free(job->device);
                job->device = g_strdup(target->source_port);
        }
        if (r < 0 && r != -ALD_E_BUSY)
                *ret_reason = g_strdup_printf(
                        "cannot measure %s: %s", target->address, ald_route_describe(r));
        return r;
}

static void end(AldJob *job, const char *reason)
{
        ald_probe_end(job->running, reason);
}

AldJob *ald_link_jobs_add(AldLinkJobs *links, uid_t uid, GArray *targets)
{
        static const AldJobTask task = { start, end, describe };
        const AldProbeTarget *first = &g_array_index(targets, AldProbeTarget, 0);

        return ald_job_new(links->jobs, &task, links, uid, g_strdup(first->peer), targets);
}
