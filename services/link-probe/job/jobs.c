/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/job/jobs.h"
#include "services/common/errors.h"
#include "services/link-probe/net/route.h"

/* The range of delays before a job that had to wait tries again. */
#define RETRY_MSEC_MIN 1000
#define RETRY_MSEC_MAX 5000

/* Changes within this time are reported together, since progress changes often. */
#define NOTIFICATION_MSEC 100u

/* A job may wait this many times as often for other probes of this machine as for its peer. */
#define QUEUE_FACTOR 3u

struct AldJob {
        AldJobs *jobs;
        const AldProbeKind *kind;
        unsigned number;
        uid_t uid;
        char *node, *address, *device; /* of the current or last target; may be NULL */
        GArray *targets;
        unsigned next;            /* index of the target that is or will be measured */
        unsigned retries, queued; /* how often it had to wait: for the peer, for this machine */
        AldJobState state;
        AldProbe *running; /* NULL if none */
        bool stopped;      /* it fails once the running probe has ended */
        bool in_queue;     /* it waits for another probe of this machine */
        bool changed;      /* since the watcher was last called */
        guint timer;       /* until the next attempt, or until the job is removed */
        char *phase, *error;
        double fraction;   /* completed part of the current target */
        AldRecord *result; /* of the last measured target, or joined from all; or NULL */
        GArray *paths;     /* AldJobPath: the outcome for each address */
};

struct AldJobs {
        AldJobsParts parts;
        AldJobChanged changed; /* NULL if none */
        void *userdata;
        guint notification; /* timer until changes are reported */
        unsigned last;
        GPtrArray *list; /* oldest first */
};

static void job_free(gpointer data)
{
        AldJob *job = data;

        g_clear_handle_id(&job->timer, g_source_remove);
        g_array_unref(job->targets);
        g_free(job->node);
        g_free(job->address);
        g_free(job->device);
        g_free(job->phase);
        g_free(job->error);
        g_clear_pointer(&job->result, ald_record_unref);
        g_array_unref(job->paths);
        g_free(job);
}

AldJobs *ald_jobs_new(const AldJobsParts *parts)
{
        AldJobs *jobs = g_new0(AldJobs, 1);

        jobs->parts = *parts;
        jobs->list = g_ptr_array_new_with_free_func(job_free);
        return jobs;
}

void ald_jobs_watch(AldJobs *jobs, AldJobChanged changed, void *userdata)
{
        jobs->changed = changed;
        jobs->userdata = userdata;
}

void ald_jobs_free(AldJobs *jobs)
{
        if (!jobs)
                return;
        g_clear_handle_id(&jobs->notification, g_source_remove);
        g_ptr_array_unref(jobs->list);
        g_free(jobs);
}

static bool is_over(const AldJob *job)
{
        return job->state >= ALD_JOB_DONE;
}

static void notify_watcher(AldJob *job, AldJobNews news)
{
        const AldJobs *jobs = job->jobs;

        if (jobs->changed)
                jobs->changed(job, news, jobs->userdata);
}

static gboolean on_notification_due(gpointer userdata)
{
        AldJobs *jobs = userdata;

        jobs->notification = 0;
        for (unsigned i = 0; i < jobs->list->len; i++) {
                AldJob *job = jobs->list->pdata[i];

                if (job->changed)
                        notify_watcher(job, ALD_JOB_NEWS_CHANGED);
                job->changed = false;
        }
        return G_SOURCE_REMOVE;
}

static void schedule_notification(AldJob *job)
{
        AldJobs *jobs = job->jobs;

        job->changed = true;
        if (jobs->notification == 0)
                jobs->notification = g_timeout_add(NOTIFICATION_MSEC, on_notification_due, jobs);
}

static void remove_job(AldJob *job)
{
        notify_watcher(job, ALD_JOB_NEWS_REMOVED);
        g_ptr_array_remove(job->jobs->list, job);
}

static gboolean on_kept_long_enough(gpointer userdata)
{
        AldJob *job = userdata;

        /* The running measurement still needs the job to report its end. */
        if (job->running)
                return G_SOURCE_CONTINUE;
        job->timer = 0;
        remove_job(job);
        return G_SOURCE_REMOVE;
}

/* Removes the oldest ended job if there are too many. `newest` has just ended and is still in use. */
static void remove_oldest_ended(AldJobs *jobs, const AldJob *newest)
{
        AldJob *oldest = NULL;
        unsigned ended = 0;

        for (unsigned i = 0; i < jobs->list->len; i++) {
                AldJob *job = jobs->list->pdata[i];

                ended += is_over(job);
                if (!oldest && is_over(job) && !job->running && job != newest)
                        oldest = job;
        }
        if (ended > ALD_JOBS_ENDED_MAX && oldest)
                remove_job(oldest);
}

static void finish_job(AldJob *job, AldJobState state, const char *error)
{
        AldJobs *jobs = job->jobs;

        g_clear_handle_id(&job->timer, g_source_remove);
        g_clear_pointer(&job->phase, g_free);
        g_free(job->error);
        job->error = g_strdup(error);
        job->state = state;
        job->timer = g_timeout_add_seconds(ALD_JOB_KEPT_SECONDS, on_kept_long_enough, job);
        schedule_notification(job);
        remove_oldest_ended(jobs, job);
}

static void set_phase(AldJob *job, const char *phase)
{
        g_free(job->phase);
        job->phase = g_strdup(phase);
}

static void on_progress(AldProbe *probe, const char *phase, double fraction, void *userdata)
{
        AldJob *job = userdata;

        set_phase(job, phase);
        /* Progress never goes back within one target. */
        job->fraction = MAX(job->fraction, fraction);
        schedule_notification(job);
}

static gboolean on_retry(gpointer userdata)
{
        AldJob *job = userdata;

        job->timer = 0;
        ald_jobs_step(job->jobs);
        return G_SOURCE_REMOVE;
}

static void clear_path(gpointer data)
{
        AldJobPath *path = data;

        g_clear_pointer(&path->result, ald_record_unref);
        g_free(path->error);
}

static const AldProbeTarget *target_of(const AldJob *job)
{
        return &g_array_index(job->targets, AldProbeTarget, job->next);
}

/* Adds the outcome of the current address. The row borrows from the target. */
static void add_path(AldJob *job, AldRecord *result, const char *error)
{
        const AldProbeTarget *target = target_of(job);
        AldJobPath path = { .row = ALD_JOB_PATH_ROW_INIT };

        if (!job->address)
                return;
        path.row.address = target->address;
        path.row.source_port = target->source_port;
        path.row.sink_port = target->sink_port;
        path.error = g_strdup(error);
        path.row.error = path.error;
        if (result) {
                path.result = ald_record_ref(result);
                /* An RDMA result contains the ports as well. */
                path.row.source_port = path.row.sink_port = NULL;
        }
        g_array_append_val(job->paths, path);
}

/* Lets the job wait for another attempt, or ends it after too many. `phase` describes what it waits for, or
 * is NULL; `reason` is its error if it fails. */
static void wait_for_turn(AldJob *job, const char *phase, const char *reason)
{
        /* Each probe of this machine ends within a minute, and several may be ahead of this one. */
        bool over = job->in_queue ? ++job->queued > QUEUE_FACTOR * job->kind->retries_max
                                  : ++job->retries > job->kind->retries_max;

        if (over) {
                /* The remaining targets would have to wait for the same reason. */
                add_path(job, NULL, reason);
                finish_job(job, job->result ? ALD_JOB_DONE : ALD_JOB_FAILED, reason);
                return;
        }
        job->state = ALD_JOB_WAITING;
        set_phase(job, phase);
        g_clear_handle_id(&job->timer, g_source_remove);
        job->timer = g_timeout_add((guint) g_random_int_range(RETRY_MSEC_MIN, RETRY_MSEC_MAX), on_retry, job);
        schedule_notification(job);
}

/* Continues with the next target, or ends the job: as done if at least one target was measured. */
static void advance_to_next_target(AldJob *job, AldRecord *result, const char *error)
{
        add_path(job, result, error);
        job->next++;
        job->fraction = 0;
        job->retries = job->queued = 0;
        job->state = ALD_JOB_WAITING;
        set_phase(job, NULL);
        if (error) {
                g_free(job->error);
                job->error = g_strdup(error);
        }
        if (job->next < job->targets->len)
                schedule_notification(job);
        else if (job->result)
                finish_job(job, ALD_JOB_DONE, NULL);
        else
                finish_job(job, ALD_JOB_FAILED, error);
}

/* Joins the new result to those so far. If the result exceeds the limit of a record, it is omitted. */
static void merge_result(AldJob *job, AldRecord *measured)
{
        AldRecord *joined = NULL;

        if (job->result && job->kind->join && job->kind->join(job->result, measured, &joined) < 0) {
                g_warning("The result of job %u is full; omitting %s", job->number, job->device);
                return;
        }
        g_clear_pointer(&job->result, ald_record_unref);
        job->result = joined ?: ald_record_ref(measured);
}

static AldDeviceSchedule *schedule_of(const AldJob *job)
{
        return job->jobs->parts.schedules[job->kind->kind];
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        AldJob *job = userdata;
        AldJobs *jobs = job->jobs;

        job->running = NULL;
        if (job->kind->local)
                ald_device_schedule_take(schedule_of(job), probe, answer);
        else
                ald_schedule_take(jobs->parts.schedule, probe, answer);
        if (!is_over(job)) {
                if (job->stopped) {
                        finish_job(job, ALD_JOB_FAILED, answer->reason);
                } else if (answer->verdict == ALD_PROBE_LATER) {
                        wait_for_turn(job, answer->reason, answer->reason);
                } else {
                        if (answer->verdict == ALD_PROBE_DONE)
                                merge_result(job, answer->result);
                        advance_to_next_target(job, answer->verdict == ALD_PROBE_DONE ? answer->result : NULL,
                                answer->reason);
                }
        }
        ald_jobs_step(jobs);
}

static void set_current_target(AldJob *job, const AldProbeTarget *target)
{
        g_free(job->address);
        g_free(job->device);
        job->address = job->kind->local ? NULL : g_strdup(target->address);
        job->device = g_strdup(target->device ?: target->source_port);
}

/* Starts the probe of the next target. Returns -ALD_E_BUSY if the job has to wait, with a reason unless it
 * waits for another probe; or any other error, with the reason, if the target cannot be measured. */
static int start_probe(AldJob *job, char **ret_reason)
{
        static const AldProbeHandler handler = { .progress = on_progress, .ended = on_ended };
        const AldJobsParts *parts = &job->jobs->parts;
        const AldProbeTarget *target = target_of(job);
        char *obstacle = job->kind->local ? ald_device_schedule_obstacle(schedule_of(job), target) : NULL;
        int r;

        if (obstacle) {
                *ret_reason = obstacle;
                return -ALD_E_BUSY;
        }
        r = ald_prober_start(parts->prober, target, &handler, job, &job->running);
        if (r == -ALD_E_BUSY)
                return r;
        set_current_target(job, target);
        if (r < 0)
                *ret_reason = g_strdup_printf(
                        "cannot measure %s: %s", ald_probe_target_name(target), ald_route_describe(r));
        return r;
}

static void try_to_start(AldJob *job)
{
        g_autofree char *reason = NULL;
        int r = start_probe(job, &reason);

        job->in_queue = r == -ALD_E_BUSY && !reason;
        if (r == -ALD_E_BUSY) {
                if (job->timer == 0)
                        wait_for_turn(job, reason, reason ?: "waited too long for other probes to finish");
        } else if (r < 0) {
                advance_to_next_target(job, NULL, reason);
        } else {
                job->state = ALD_JOB_RUNNING;
                set_phase(job, NULL);
                schedule_notification(job);
        }
}

void ald_jobs_step(AldJobs *jobs)
{
        for (unsigned i = 0; i < jobs->list->len; i++) {
                AldJob *job = jobs->list->pdata[i];

                while (job->state == ALD_JOB_WAITING && job->timer == 0)
                        try_to_start(job);
        }
}

void ald_jobs_wake(AldJobs *jobs)
{
        for (unsigned i = 0; i < jobs->list->len; i++) {
                AldJob *job = jobs->list->pdata[i];

                if (job->state == ALD_JOB_WAITING && job->in_queue)
                        g_clear_handle_id(&job->timer, g_source_remove);
        }
        ald_jobs_step(jobs);
}

static unsigned count_unfinished(const AldJobs *jobs, const uid_t *uid)
{
        unsigned n = 0;

        for (unsigned i = 0; i < jobs->list->len; i++) {
                const AldJob *job = jobs->list->pdata[i];

                n += !is_over(job) && (!uid || job->uid == *uid);
        }
        return n;
}

int ald_jobs_room(const AldJobs *jobs, uid_t uid)
{
        if (count_unfinished(jobs, NULL) >= ALD_JOBS_MAX)
                return -ALD_E_COMMON_LIMIT;
        return count_unfinished(jobs, &uid) >= ALD_JOBS_PER_USER_MAX ? -ALD_E_USER_LIMIT : 0;
}

AldJob *ald_jobs_add(AldJobs *jobs, uid_t uid, GArray *targets)
{
        const AldProbeTarget *first = &g_array_index(targets, AldProbeTarget, 0);
        AldJob *job = g_new0(AldJob, 1);

        job->jobs = jobs;
        job->kind = first->kind;
        job->number = ++jobs->last;
        job->uid = uid;
        job->node = g_strdup(first->kind->local ? jobs->parts.own_id : first->peer);
        job->targets = targets;
        job->paths = g_array_new(FALSE, FALSE, sizeof(AldJobPath));
        g_array_set_clear_func(job->paths, clear_path);
        g_ptr_array_add(jobs->list, job);
        notify_watcher(job, ALD_JOB_NEWS_ADDED);
        return job;
}

static void stop_job(AldJob *job, AldJobState state, const char *reason)
{
        if (is_over(job))
                return;
        /* A stopped measurement reports a more precise reason when it ends. */
        job->stopped = job->running && state == ALD_JOB_FAILED && job->kind->local;
        if (!job->stopped)
                finish_job(job, state, reason);
        if (job->running)
                ald_probe_end(job->running, reason ?: "was canceled");
}

void ald_job_cancel(AldJob *job)
{
        stop_job(job, ALD_JOB_CANCELED, NULL);
}

void ald_jobs_fail_all(AldJobs *jobs, AldKind kind, const char *reason)
{
        /* Stopping a job keeps it, but may remove others that ended long ago. */
        g_autoptr(GPtrArray) list = g_ptr_array_new();

        for (unsigned i = 0; i < jobs->list->len; i++) {
                AldJob *job = jobs->list->pdata[i];

                if (!is_over(job) && job->kind->kind == kind)
                        g_ptr_array_add(list, job);
        }
        for (unsigned i = 0; i < list->len; i++)
                stop_job(list->pdata[i], ALD_JOB_FAILED, reason);
}

/* The names of the states on the bus. */

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
        return job->kind->kind;
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
