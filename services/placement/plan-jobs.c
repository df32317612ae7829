/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/report/plan-description.h"
#include "placement/report/sentences.h"
#include "placement/search/plan-make.h"
#include "services/common/errors.h"
#include "services/placement/plan-jobs.h"

#define TIME_USEC (20 * G_USEC_PER_SEC)     /* after this time, the best plan so far is returned */
#define TIME_MAX_USEC (60 * G_USEC_PER_SEC) /* the limit if there is none */
#define TICK_MSEC 250u
#define FRACTION_SCALE 1000000 /* 1 as a fraction that both threads share */

typedef enum JobState {
        JOB_WAITING,
        JOB_PREPARING, /* it has its turn, but has not been started */
        JOB_RUNNING,
} JobState;

struct AldPlanJob {
        AldPlanJobs *jobs;
        uid_t uid;
        void *of;
        JobState state;

        /* Valid while it is running: */
        GThread *thread;
        gint64 begun_usec;
        AldPlanSnapshot *snapshot;
        AldPlanWorkload workload;
        AldPlanRequest request;
        const AldPlanOptions *options;
        gint fraction, given_up, is_late; /* shared by both threads; given_up is an errno */

        /* Set by the thread: */
        int r;
        AldPlanReport *report;
        char *problem;
};

struct AldPlanJobs {
        const AldPlanJobsHandler *handler;
        void *userdata;
        GPtrArray *list;    /* of AldPlanJob, oldest first */
        GHashTable *served; /* uid → number of the last turn */
        uint64_t turns;
        unsigned at_once;
        guint timer;
};

AldPlanJobs *ald_plan_jobs_new(const AldPlanJobsHandler *handler, void *userdata)
{
        AldPlanJobs *jobs = g_new(AldPlanJobs, 1);

        *jobs = (AldPlanJobs){ .handler = handler,
                .userdata = userdata,
                .list = g_ptr_array_new(),
                .served = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
                .at_once = CLAMP(g_get_num_processors(), 1, ALD_PLANS_AT_ONCE_MAX) };
        return jobs;
}

void *ald_plan_job_of(const AldPlanJob *job)
{
        return job->of;
}

static AldPlanJob *job_at(const AldPlanJobs *jobs, guint i)
{
        return jobs->list->pdata[i];
}

static unsigned count_jobs(const AldPlanJobs *jobs, bool waiting, const uid_t *uid)
{
        unsigned n = 0;

        for (guint i = 0; i < jobs->list->len; i++) {
                const AldPlanJob *job = job_at(jobs, i);

                n += (job->state == JOB_WAITING) == waiting && (!uid || job->uid == *uid);
        }
        return n;
}

static uint64_t last_turn(const AldPlanJobs *jobs, uid_t uid)
{
        const gint64 key = uid;
        const uint64_t *turn = g_hash_table_lookup(jobs->served, &key);

        return turn ? *turn : 0;
}

static AldPlanJob *choose_next(const AldPlanJobs *jobs)
{
        AldPlanJob *best = NULL;

        for (guint i = 0; i < jobs->list->len; i++) {
                AldPlanJob *job = job_at(jobs, i);

                if (job->state == JOB_WAITING && count_jobs(jobs, false, &job->uid) == 0 &&
                        (!best || last_turn(jobs, job->uid) < last_turn(jobs, best->uid)))
                        best = job;
        }
        return best;
}

static void note_turn(AldPlanJobs *jobs, uid_t uid)
{
        const gint64 key = uid;
        const uint64_t turn = ++jobs->turns;

        g_hash_table_insert(jobs->served, g_memdup2(&key, sizeof key), g_memdup2(&turn, sizeof turn));
}

static void give_turns(AldPlanJobs *jobs)
{
        AldPlanJob *job;

        while (count_jobs(jobs, false, NULL) < jobs->at_once && (job = choose_next(jobs))) {
                note_turn(jobs, job->uid);
                job->state = JOB_PREPARING;
                jobs->handler->turn(job, jobs->userdata);
        }
}

static void job_free(AldPlanJob *job)
{
        ald_plan_snapshot_free(job->snapshot);
        ald_plan_report_free(job->report);
        g_free(job->problem);
        g_free(job);
}

/* Ends a job without giving the next one its turn. */
static void end_job(AldPlanJob *job, int error)
{
        AldPlanJobs *jobs = job->jobs;

        g_ptr_array_remove(jobs->list, job);
        jobs->handler->ended(job, error, job->report, job->problem, jobs->userdata);
        job_free(job);
}

static void serve_next(AldPlanJobs *jobs)
{
        if (jobs->list->len > 0) {
                give_turns(jobs);
                return;
        }
        g_hash_table_remove_all(jobs->served);
        g_clear_handle_id(&jobs->timer, g_source_remove);
        jobs->handler->idle(jobs->userdata);
}

int ald_plan_jobs_add(AldPlanJobs *jobs, uid_t uid, void *of)
{
        AldPlanJob *job;

        if (count_jobs(jobs, true, &uid) >= ALD_PLANS_WAITING_PER_USER_MAX)
                return -ALD_E_USER_LIMIT;
        if (count_jobs(jobs, true, NULL) >= ALD_PLANS_WAITING_MAX)
                return -ALD_E_COMMON_LIMIT;
        job = g_new0(AldPlanJob, 1);
        job->jobs = jobs;
        job->uid = uid;
        job->of = of;
        g_ptr_array_add(jobs->list, job);
        give_turns(jobs);
        return 0;
}

void ald_plan_job_fail(AldPlanJob *job, int error)
{
        AldPlanJobs *jobs = job->jobs;

        end_job(job, error);
        serve_next(jobs);
}

static gboolean on_made(gpointer userdata)
{
        AldPlanJob *job = userdata;
        int given_up = g_atomic_int_get(&job->given_up);

        g_thread_join(job->thread);
        ald_plan_job_fail(job, job->r == -ECANCELED && given_up != 0 ? -given_up : job->r);
        return G_SOURCE_REMOVE;
}

/* Stops a job; the first reason counts. */
static void give_up_job(AldPlanJob *job, int error)
{
        g_atomic_int_compare_and_exchange(&job->given_up, 0, error);
}

/* Called in the thread of the job. */
static bool on_proceed(double fraction, void *userdata)
{
        AldPlanJob *job = userdata;

        g_atomic_int_set(&job->fraction, (gint) (fraction * FRACTION_SCALE));
        return g_atomic_int_get(&job->given_up) == 0;
}

/* Called in the thread of the job. */
static bool on_is_late(void *userdata)
{
        AldPlanJob *job = userdata;

        return g_atomic_int_get(&job->is_late) != 0;
}

static void *make_plan(void *userdata)
{
        AldPlanJob *job = userdata;
        const AldPlanCluster *cluster = &job->snapshot->cluster;
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal = { 0 };

        job->r = ald_plan_make(cluster, &job->request, &plan, &refusal);
        if (job->r == -EINVAL && !ald_plan_is_reported(&refusal)) {
                job->problem = ald_plan_refusal_sentence(cluster, &job->request, &refusal);
        } else if (job->r >= 0 || job->r == -EINVAL) {
                job->report = ald_plan_describe(
                        cluster, &job->request, job->options, job->snapshot->revision, plan, &refusal);
                job->r = 0;
        }
        g_free(refusal.verdicts);
        g_idle_add_full(G_PRIORITY_DEFAULT, on_made, job, NULL);
        return NULL;
}

static gboolean on_tick(gpointer userdata)
{
        AldPlanJobs *jobs = userdata;
        gint64 now = g_get_monotonic_time();

        for (guint i = 0; i < jobs->list->len; i++) {
                AldPlanJob *job = job_at(jobs, i);

                if (job->state != JOB_RUNNING)
                        continue;
                if (now - job->begun_usec >= TIME_USEC)
                        g_atomic_int_set(&job->is_late, 1);
                if (now - job->begun_usec >= TIME_MAX_USEC)
                        give_up_job(job, ETIMEDOUT);
                if (now - job->begun_usec >= TICK_MSEC * 1000)
                        jobs->handler->progress(job,
                                (double) g_atomic_int_get(&job->fraction) / FRACTION_SCALE, jobs->userdata);
        }
        return G_SOURCE_CONTINUE;
}

void ald_plan_job_start(AldPlanJob *job, AldPlanSnapshot *snapshot, const AldPlanRequest *request,
        const AldPlanOptions *options)
{
        AldPlanJobs *jobs = job->jobs;
        g_autoptr(GError) error = NULL;

        job->snapshot = snapshot;
        if (job->given_up != 0) {
                ald_plan_job_fail(job, -job->given_up);
                return;
        }
        job->state = JOB_RUNNING;
        job->begun_usec = g_get_monotonic_time();
        job->workload = *request->workload;
        job->request = *request;
        job->request.workload = &job->workload;
        job->request.proceed = on_proceed;
        job->request.is_late = on_is_late;
        job->request.userdata = job;
        job->options = options;
        job->thread = g_thread_try_new("plan", make_plan, job, &error);
        if (!job->thread) {
                g_warning("Cannot plan: %s", error->message);
                ald_plan_job_fail(job, -EAGAIN);
                return;
        }
        if (jobs->timer == 0)
                jobs->timer = g_timeout_add(TICK_MSEC, on_tick, jobs);
}

void ald_plan_jobs_cancel(AldPlanJobs *jobs, AldPlanJobsMatch matches, const void *userdata)
{
        bool ended = false;

        for (guint i = jobs->list->len; i > 0; i--) {
                AldPlanJob *job = job_at(jobs, i - 1);

                if (matches && !matches(job->of, userdata))
                        continue;
                if (job->state != JOB_WAITING) {
                        give_up_job(job, ECANCELED);
                        continue;
                }
                end_job(job, -ECANCELED);
                ended = true;
        }
        if (ended && jobs->list->len == 0)
                serve_next(jobs);
}

void ald_plan_jobs_free(AldPlanJobs *jobs)
{
        if (!jobs)
                return;
        ald_plan_jobs_cancel(jobs, NULL, NULL);
        while (jobs->list->len > 0) {
                AldPlanJob *job = job_at(jobs, 0);

                if (job->state == JOB_RUNNING)
                        g_thread_join(job->thread);
                while (g_source_remove_by_user_data(job))
                        ;
                end_job(job, -ECANCELED);
        }
        g_clear_handle_id(&jobs->timer, g_source_remove);
        g_ptr_array_unref(jobs->list);
        g_hash_table_unref(jobs->served);
        g_free(jobs);
}
