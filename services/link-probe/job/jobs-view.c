/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/job/jobs-private.h"

/* The visible properties of jobs. */

static const char *const state_names[] = {
        [ALD_JOB_WAITING] = "waiting",
        [ALD_JOB_RUNNING] = "running",
        [ALD_JOB_DONE] = "done",
        [ALD_JOB_FAILED] = "failed",
        [ALD_JOB_CANCELED] = "canceled",
};

const char *ald_job_state_name(AldJobState state)
{
        return state_names[state];
}

unsigned ald_jobs_count(const AldJobs *jobs)
{
        return jobs->list->len;
}

AldJob *ald_jobs_at(const AldJobs *jobs, unsigned i)
{
        return jobs->list->pdata[i];
}

unsigned ald_job_number(const AldJob *job)
{
        return job->number;
}

uid_t ald_job_uid(const AldJob *job)
{
        return job->uid;
}

AldJobState ald_job_state(const AldJob *job)
{
        return job->state;
}

AldKind ald_job_kind(const AldJob *job)
{
        return job->task->kind;
}

const char *ald_job_node(const AldJob *job)
{
        return job->node;
}

const char *ald_job_address(const AldJob *job)
{
        return job->address ?: "";
}

const char *ald_job_device(const AldJob *job)
{
        return job->device ?: "";
}

const char *ald_job_phase(const AldJob *job)
{
        return job->phase ?: "";
}

const char *ald_job_error(const AldJob *job)
{
        return job->error && (job->state == ALD_JOB_FAILED || job->state == ALD_JOB_CANCELED) ? job->error
                                                                                              : "";
}

double ald_job_progress(const AldJob *job)
{
        return job->state == ALD_JOB_DONE ? 1 : (job->next + job->fraction) / job->targets->len;
}

const AldRecord *ald_job_result(const AldJob *job)
{
        return job->state == ALD_JOB_DONE ? job->result : NULL;
}

unsigned ald_job_count_paths(const AldJob *job)
{
        return job->paths->len;
}

const AldJobPath *ald_job_path_at(const AldJob *job, unsigned i)
{
        return &g_array_index(job->paths, AldJobPath, i);
}
