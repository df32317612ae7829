/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/search/plan-make.h"
#include "services/common/errors.h"
#include "services/placement/plan-jobs.h"

#define MINUTE (60 * G_USEC_PER_SEC)

/* The linker puts these in the place of GLib's clock and number of processors, and of the planner, which
 * makes no plan until it is given up. */
gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);
guint __wrap_g_get_num_processors(void);
int __wrap_ald_plan_make(const AldPlanCluster *cluster, const AldPlanRequest *request, AldPlan **ret,
        AldPlanRefusal *ret_refusal);

static gint64 clock_offset;
static gint begun; /* plans */
static gint refuse;
static gint has_plan; /* which is refused once it is late */

gint64 __wrap_g_get_monotonic_time(void)
{
        return __real_g_get_monotonic_time() + clock_offset;
}

guint __wrap_g_get_num_processors(void)
{
        return 1;
}

int __wrap_ald_plan_make(const AldPlanCluster *cluster, const AldPlanRequest *request, AldPlan **ret,
        AldPlanRefusal *ret_refusal)
{
        g_atomic_int_inc(&begun);
        while (!g_atomic_int_get(&refuse) &&
                !(g_atomic_int_get(&has_plan) && request->is_late(request->userdata)))
                if (request->proceed(0.5, request->userdata))
                        g_thread_yield();
                else
                        return -ECANCELED;
        *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_NO_CLIENT };
        return -EINVAL;
}

/* What has happened to jobs, of which each is "of" a number. */
typedef struct Jobs {
        AldPlanJobs *jobs;
        AldModel *model;
        AldPlanWorkload workload;
        AldPlanOptions options;
        AldPlanRequest request;
        AldPlanJob *turn; /* that has it, and is not started yet */
        GString *log;     /* "+n" for a turn, "-n" for an end */
        int error;        /* of the last one that ended */
        char *problem;
        double fraction;
        unsigned n_idle;
} Jobs;

static unsigned number_of(const AldPlanJob *job)
{
        return GPOINTER_TO_UINT(ald_plan_job_of(job));
}

static void on_turn(AldPlanJob *job, void *userdata)
{
        Jobs *made = userdata;

        made->turn = job;
        g_string_append_printf(made->log, "+%u", number_of(job));
}

static void on_progress(AldPlanJob *job, double fraction, void *userdata)
{
        Jobs *made = userdata;

        made->fraction = fraction;
}

static void on_ended(
        AldPlanJob *job, int error, const AldPlanReport *report, const char *problem, void *userdata)
{
        Jobs *made = userdata;

        g_string_append_printf(made->log, "-%u", number_of(job));
        made->error = error;
        g_free(made->problem);
        made->problem = g_strdup(problem);
}

static void on_idle(void *userdata)
{
        Jobs *made = userdata;

        made->n_idle++;
}

static const AldPlanJobsHandler handler = {
        .turn = on_turn, .progress = on_progress, .ended = on_ended, .idle = on_idle
};

static void jobs_init(Jobs *made)
{
        *made = (Jobs){ .jobs = ald_plan_jobs_new(&handler, made),
                .model = ald_model_new(),
                .workload = ALD_PLAN_WORKLOAD_INIT,
                .options = ALD_PLAN_OPTIONS_INIT,
                .log = g_string_new(NULL) };
        made->request = (AldPlanRequest){ .engine = ald_plan_engine_find("mpi"),
                .workload = &made->workload };
        ald_model_add_topology(made->model, false);
        clock_offset = begun = refuse = has_plan = 0;
}

static void jobs_clear(Jobs *made)
{
        ald_plan_jobs_free(made->jobs);
        ald_model_free(made->model);
        g_string_free(made->log, TRUE);
        g_free(made->problem);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Jobs, jobs_clear)

static int add(Jobs *made, uid_t uid, unsigned number)
{
        return ald_plan_jobs_add(made->jobs, uid, GUINT_TO_POINTER(number));
}

static void start(Jobs *made)
{
        AldPlanJob *job = g_steal_pointer(&made->turn);

        g_assert_nonnull(job);
        ald_plan_job_start(job, ald_plan_snapshot_new(made->model), &made->request, &made->options);
}

static void assert_log(Jobs *made, const char *expected)
{
        g_assert_cmpstr(made->log->str, ==, expected);
        g_string_truncate(made->log, 0);
}

static void wait_for_end(Jobs *made)
{
        while (!strchr(made->log->str, '-'))
                g_main_context_iteration(NULL, TRUE);
}

/* A job of user 1 that is being made. */
static void add_running(Jobs *made, unsigned number)
{
        g_assert_cmpint(add(made, 1, number), ==, 0);
        start(made);
        while (!g_atomic_int_get(&begun))
                g_thread_yield();
        g_string_truncate(made->log, 0);
}

static bool is_number(void *of, const void *number)
{
        return of == number;
}

static void cancel(Jobs *made, unsigned number)
{
        ald_plan_jobs_cancel(made->jobs, is_number, GUINT_TO_POINTER(number));
}

static void test_cancel_running(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        add_running(&made, 7);
        cancel(&made, 8);
        assert_log(&made, "");
        cancel(&made, 7);
        wait_for_end(&made);
        assert_log(&made, "-7");
        g_assert_cmpint(made.error, ==, -ECANCELED);
        g_assert_cmpuint(made.n_idle, ==, 1);
}

/* Also if it is canceled after that. */
static void test_time_limit(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        add_running(&made, 7);
        clock_offset = MINUTE / 2;
        while (made.fraction == 0)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpfloat(made.fraction, ==, 0.5);
        assert_log(&made, "");
        clock_offset = MINUTE;
        wait_for_end(&made);
        assert_log(&made, "-7");
        g_assert_cmpint(made.error, ==, -ETIMEDOUT);
}

/* Once there is a plan, it ends by itself. */
static void test_late(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        g_atomic_int_set(&has_plan, 1);
        add_running(&made, 7);
        clock_offset = MINUTE / 4;
        while (made.fraction == 0)
                g_main_context_iteration(NULL, TRUE);
        assert_log(&made, "");
        clock_offset = MINUTE / 3;
        wait_for_end(&made);
        g_assert_cmpint(made.error, ==, -EINVAL);
}

/* Between its turn and its beginning. */
static void test_cancel_preparing(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        g_assert_cmpint(add(&made, 1, 7), ==, 0);
        cancel(&made, 7);
        assert_log(&made, "+7");
        start(&made);
        assert_log(&made, "-7");
        g_assert_cmpint(made.error, ==, -ECANCELED);
        g_assert_cmpint(begun, ==, 0);
}

/* Waiting ones end at once, and nobody gets their turn. */
static void test_stop(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        add_running(&made, 7);
        g_assert_cmpint(add(&made, 1, 8), ==, 0);
        g_assert_cmpint(add(&made, 2, 9), ==, 0);
        ald_plan_jobs_free(g_steal_pointer(&made.jobs));
        assert_log(&made, "-9-8-7");
        g_assert_cmpint(made.error, ==, -ECANCELED);
        g_assert_false(g_main_context_pending(NULL));
}

static void test_problem(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        add_running(&made, 7);
        g_atomic_int_set(&refuse, 1);
        wait_for_end(&made);
        g_assert_cmpint(made.error, ==, -EINVAL);
        g_assert_cmpstr(made.problem, ==, "mpi has no client.");
}

/* Ends the one whose turn it is. */
static void end_turn(Jobs *made)
{
        ald_plan_job_fail(g_steal_pointer(&made->turn), -EREMOTEIO);
}

/* The user who has waited longest since the last turn is next. */
static void test_fairness(void)
{
        g_auto(Jobs) made = { 0 };

        jobs_init(&made);
        for (unsigned i = 11; i <= 14; i++)
                g_assert_cmpint(add(&made, 1, i), ==, 0);
        g_assert_cmpint(add(&made, 2, 21), ==, 0);
        g_assert_cmpint(add(&made, 3, 31), ==, 0);
        g_assert_cmpint(add(&made, 2, 22), ==, 0);
        while (made.turn)
                end_turn(&made);
        assert_log(&made, "+11-11+21-21+31-31+12-12+22-22+13-13+14-14");
        g_assert_cmpuint(made.n_idle, ==, 1);
}

static void test_limits(void)
{
        g_auto(Jobs) made = { 0 };
        unsigned n = 0;

        jobs_init(&made);
        for (unsigned i = 0; i <= ALD_PLANS_WAITING_PER_USER_MAX; i++)
                g_assert_cmpint(add(&made, 1, n++), ==, 0);
        g_assert_cmpint(add(&made, 1, n), ==, -ALD_E_USER_LIMIT);
        for (; n <= ALD_PLANS_WAITING_MAX; n++)
                g_assert_cmpint(add(&made, 2 + n / ALD_PLANS_WAITING_PER_USER_MAX, n), ==, 0);
        g_assert_cmpint(add(&made, 1000, n), ==, -ALD_E_COMMON_LIMIT);
        end_turn(&made);
        g_assert_cmpint(add(&made, 1000, n), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-jobs/cancel-running", test_cancel_running);
        g_test_add_func("/plan-jobs/time-limit", test_time_limit);
        g_test_add_func("/plan-jobs/late", test_late);
        g_test_add_func("/plan-jobs/cancel-preparing", test_cancel_preparing);
        g_test_add_func("/plan-jobs/stop", test_stop);
        g_test_add_func("/plan-jobs/problem", test_problem);
        g_test_add_func("/plan-jobs/fairness", test_fairness);
        g_test_add_func("/plan-jobs/limits", test_limits);
        return g_test_run();
}
