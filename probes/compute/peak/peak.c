/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/probe-clock.h"
#include "probes/compute/gemm/refusals.h"
#include "probes/compute/peak/peak.h"
#include "probes/compute/run/meter.h"

#define ITERATIONS_MIN 4096u
#define ITERATIONS_MAX (1u << 28)
#define LAUNCH_SECONDS 0.005
#define TRIAL_SECONDS 0.1

typedef struct Job {
        const AldPeakVariant *variant;
        AldOpenclSession *session;
        AldFailure *failure;
        unsigned n_items, iterations;
        cl_program program;
        cl_kernel kernel;
        cl_mem out;
} Job;

static void job_clear(Job *job)
{
        const AldCl *cl = job->session->cl;

        if (job->out)
                cl->ReleaseMemObject(job->out);
        if (job->kernel)
                cl->ReleaseKernel(job->kernel);
        if (job->program)
                cl->ReleaseProgram(job->program);
        job->out = NULL;
        job->kernel = NULL;
        job->program = NULL;
}

static int set_arguments(Job *job)
{
        const AldCl *cl = job->session->cl;
        cl_int iterations = (cl_int) job->iterations;
        cl_float factor = -1;
        cl_int code = cl->SetKernelArg(job->kernel, 0, sizeof job->out, &job->out);

        if (code == CL_SUCCESS)
                code = cl->SetKernelArg(job->kernel, 1, sizeof iterations, &iterations);
        if (code == CL_SUCCESS)
                code = cl->SetKernelArg(job->kernel, 2, sizeof factor, &factor);
        return code == CL_SUCCESS ? 0 : ald_cl_fail(job->failure, code, "setting the arguments of a kernel");
}

static int build_program(Job *job)
{
        const AldPeakVariant *variant = job->variant;
        g_autofree char *options = g_strdup_printf(
                "-DWIDTH=%u -DCHAINS=%u %s", variant->width, variant->chains, variant->options ?: "");
        AldProgramBuild build_with = variant->build ?: ald_opencl_session_build;

        return build_with(job->session, variant->source, options, &job->program, job->failure);
}

static int create_job(Job *job)
{
        cl_int code = CL_SUCCESS;
        int r = build_program(job);

        if (r < 0)
                return r;
        job->kernel = job->session->cl->CreateKernel(job->program, "peak", &code);
        if (!job->kernel)
                return ald_cl_fail(job->failure, code, "creating a kernel");
        r = ald_opencl_session_buffer(
                job->session, CL_MEM_READ_WRITE, job->n_items * sizeof(float), &job->out, job->failure);
        return r < 0 ? r : set_arguments(job);
}

static int launch_job(void *userdata, cl_event *ret)
{
        const Job *job = userdata;
        size_t global = job->n_items, local = job->variant->local;
        cl_int code = job->session->cl->EnqueueNDRangeKernel(
                job->session->queue, job->kernel, 1, NULL, &global, &local, 0, NULL, ret);

        return code == CL_SUCCESS ? 0 : ald_cl_fail(job->failure, code, "starting a kernel");
}

static double operations_per_launch(const Job *job)
{
        return job->variant->operations * job->n_items * job->iterations;
}

static int check_result(const Job *job)
{
        g_autofree float *out = g_new(float, job->n_items);
        cl_int code = job->session->cl->EnqueueReadBuffer(
                job->session->queue, job->out, CL_TRUE, 0, job->n_items * sizeof *out, out, 0, NULL, NULL);

        if (code != CL_SUCCESS)
                return ald_cl_fail(job->failure, code, "reading the result");
        for (unsigned i = 0; i < job->n_items; i++) {
                double expected = job->variant->expected(job->variant, i);

                if (!((double) out[i] == expected))
                        return ald_fail(job->failure, ALD_FAILURE_WRONG_RESULT,
                                "the result of work-item %u is %g, not %g", i, (double) out[i], expected);
        }
        return 0;
}

/* Finds the rate with launches so long that starting them does not matter. */
static int run_trial(Job *job, double *ret_rate)
{
        double rate = 0;
        int r = create_job(job);

        while (r >= 0) {
                double seconds;
                unsigned factor;

                r = ald_meter_try(job->session, launch_job, job, operations_per_launch(job), TRIAL_SECONDS,
                        &rate, job->failure);
                if (r < 0)
                        break;
                seconds = operations_per_launch(job) / rate;
                if (seconds >= LAUNCH_SECONDS || job->iterations >= ITERATIONS_MAX)
                        break;
                /* At least doubles the iterations. At most 32 times as many are tried next, since the time of
                 * a very short launch says little. */
                factor = 2u << (unsigned) CLAMP(log2(LAUNCH_SECONDS / MAX(seconds, 1e-6)), 0, 4);
                job->iterations = MIN(job->iterations, ITERATIONS_MAX / factor) * factor;
                r = set_arguments(job);
        }
        if (r >= 0)
                r = check_result(job);
        if (r >= 0)
                *ret_rate = rate;
        return r;
}

/* Tries a variant, and keeps it in *best if it is the fastest so far. */
static int try_variant(const AldPeakVariant *variant, Job *best, double *best_rate, AldRefusals *refusals,
        AldFailure *failure)
{
        AldFailure of_variant = {};
        Job job = {
                .variant = variant,
                .session = best->session,
                .failure = &of_variant,
                .n_items = variant->per_unit * MAX(1u, best->session->facts->listed.compute_units),
                .iterations = ITERATIONS_MIN,
        };
        double rate = 0;
        int r = run_trial(&job, &rate);

        job.failure = failure;
        if (r < 0)
                r = ald_refusals_add(refusals, variant->name, &of_variant, failure);
        if (rate > *best_rate) {
                job_clear(best);
                *best = job;
                *best_rate = rate;
        } else {
                job_clear(&job);
        }
        return r;
}

static int choose_job(const AldMeasureOptions *options, Job *best, AldRefusals *refusals, AldFailure *failure)
{
        const AldPeakVariant *crashed = options->simpler_than ? ald_peak_variant_find(options->simpler_than)
                                                              : NULL;
        double best_rate = 0;
        size_t n = 0;
        const AldPeakVariant *variants = ald_peak_variants(&n);
        int r = 0;

        for (size_t i = crashed ? (size_t) (crashed - variants) + 1 : 0; r >= 0 && i < n; i++) {
                if (variants[i].fit(best->session->facts) == ALD_FIT_NO)
                        continue;
                ald_measure_report(options, ALD_COMPUTE_STEP_PHASE_TRIAL, variants[i].name, 0);
                r = try_variant(&variants[i], best, &best_rate, refusals, failure);
        }
        return r >= 0 && !best->variant ? ald_refusals_fail(refusals, failure) : r;
}

static int measure_job(
        Job *job, const AldMeasureOptions *options, double seconds_max, AldMeasure *ret, AldFailure *failure)
{
        AldMeasure measure = {
                .method = job->variant->name,
                .precision = job->variant->precision,
                .accumulator = job->variant->accumulator,
                .fp16_hardware = job->variant->fp16_hardware,
        };
        AldMeterOptions meter = {
                .measure = options,
                .variant = job->variant->name,
                .seconds_max = seconds_max,
        };
        int r = ald_meter_run(
                job->session, &meter, launch_job, job, operations_per_launch(job), &measure.meter, failure);

        if (r >= 0)
                r = check_result(job);
        if (r >= 0)
                *ret = measure;
        return r;
}

int ald_peak_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        uint64_t start = ald_now();
        AldRefusals refusals = {};
        Job job = { .session = session };
        int r = choose_job(options, &job, &refusals, failure);

        if (r >= 0) {
                double past = (double) (ald_now() - start) / ALD_NSEC_PER_SEC;

                r = measure_job(&job, options, MAX(options->seconds_max - past, options->seconds_max / 3),
                        ret, failure);
        }
        if (r >= 0)
                ald_refusals_list(&refusals, ret->refused, sizeof ret->refused);
        job_clear(&job);
        ald_refusals_clear(&refusals);
        return r;
}
