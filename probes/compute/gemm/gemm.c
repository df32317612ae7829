/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "probes/common/probe-clock.h"
#include "probes/compute/gemm/gemm-job.h"
#include "probes/compute/gemm/refusals.h"
#include "probes/compute/run/meter.h"

#define TRIAL_SECONDS 0.1
#define ROUNDS 3u

typedef struct Candidate {
        AldGemmJob *job; /* NULL if there is none */
        double rate;
} Candidate;

/* The choice of a variant. */
typedef struct Choice {
        AldOpenclSession *session;
        const AldGemmVariants *variants;
        const AldMeasureOptions *options;
        AldGemmBuffers buffers;
        Candidate candidates[2]; /* the fastest correct ones so far, without FP16 in hardware and with it */
        AldGemmJob *job;         /* the chosen one of them */
        AldRefusals refusals;
        uint64_t start_nsec;
} Choice;

static void choice_clear(Choice *choice)
{
        for (size_t i = 0; i < G_N_ELEMENTS(choice->candidates); i++)
                g_clear_pointer(&choice->candidates[i].job, ald_gemm_job_free);
        ald_gemm_buffers_clear(&choice->buffers);
        ald_refusals_clear(&choice->refusals);
}

static double elapsed(const Choice *choice)
{
        return (double) (ald_now() - choice->start_nsec) / ALD_NSEC_PER_SEC;
}

static bool has_any(const Choice *choice)
{
        return choice->candidates[false].job || choice->candidates[true].job;
}

static int time_trial(Choice *choice, AldGemmJob *job, double *ret_rate, AldFailure *failure)
{
        ald_measure_report(choice->options, ALD_COMPUTE_STEP_PHASE_TRIAL, job->variant->name, 0);
        job->failure = failure;
        return ald_meter_try(choice->session, ald_gemm_job_launch, job, ald_gemm_work(choice->buffers.n),
                TRIAL_SECONDS, ret_rate, failure);
}

/* Builds and runs a variant, and checks its result. */
static int run_trial(Choice *choice, const AldGemmVariant *variant, AldGemmJob **ret, double *ret_rate,
        AldFailure *failure)
{
        g_autoptr(AldGemmJob) job = NULL;
        double rate;
        int r = ald_gemm_job_new(&choice->buffers, variant, failure, &job);

        if (r < 0)
                return r;
        r = ald_gemm_buffers_invalidate(&choice->buffers, failure);
        if (r >= 0)
                r = time_trial(choice, job, &rate, failure);
        if (r >= 0)
                r = ald_gemm_buffers_check(&choice->buffers, variant, failure);
        if (r < 0)
                return r;
        job->failure = NULL;
        *ret = g_steal_pointer(&job);
        *ret_rate = rate;
        return 0;
}

/* Tries a variant, and keeps it if it is the fastest of its kind so far. Only returns failures that are not
 * limited to this variant. */
static int try_variant(Choice *choice, const AldGemmVariant *variant, AldFailure *failure)
{
        Candidate *candidate = &choice->candidates[variant->fp16_hardware];
        g_autoptr(AldGemmJob) job = NULL;
        AldFailure of_variant = {};
        double rate = 0;
        int r;

        ald_measure_report(choice->options, ALD_COMPUTE_STEP_PHASE_BUILD, variant->name, 0);
        r = ald_gemm_buffers_prepare(&choice->buffers, variant, failure);
        if (r < 0)
                return r;
        r = run_trial(choice, variant, &job, &rate, &of_variant);
        if (r < 0)
                return ald_refusals_add(&choice->refusals, variant->name, &of_variant, failure);
        if (candidate->job && candidate->rate >= rate)
                return 0;
        g_clear_pointer(&candidate->job, ald_gemm_job_free);
        *candidate = (Candidate){ .job = g_steal_pointer(&job), .rate = rate };
        return 0;
}

static int try_all(Choice *choice, AldFit fit, AldFailure *failure)
{
        const AldMeasureOptions *options = choice->options;
        const AldGemmVariant *variants = choice->variants->variants;
        size_t first = 0;
        int r = 0;

        if (options->simpler_than) {
                const AldGemmVariant *crashed = ald_gemm_variant_find(
                        choice->variants, options->simpler_than);

                first = crashed ? (size_t) (crashed - variants) + 1 : 0;
        }
        for (size_t i = first; r >= 0 && i < choice->variants->n; i++) {
                const AldGemmVariant *variant = &variants[i];

                if (variant->fit(choice->session->facts) != fit || choice->buffers.n % variant->multiple != 0)
                        continue;
                if (has_any(choice) && elapsed(choice) > options->seconds_max / 2)
                        break;
                r = try_variant(choice, variant, failure);
        }
        return r;
}

static int try_named(Choice *choice, AldFailure *failure)
{
        const AldGemmVariant *variant = ald_gemm_variant_find(choice->variants, choice->options->variant);

        if (!variant)
                return ald_fail(
                        failure, ALD_FAILURE_INTERNAL, "unknown variant %s", choice->options->variant);
        if (variant->fit(choice->session->facts) == ALD_FIT_NO)
                return ald_fail(
                        failure, ALD_FAILURE_INTERNAL, "%s does not support this device", variant->name);
        if (choice->buffers.n % variant->multiple != 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL,
                        "%s requires a size that is a multiple of %u, not %u", variant->name,
                        variant->multiple, choice->buffers.n);
        return try_variant(choice, variant, failure);
}

static int compare_rates(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

/* Repeats the trials of both candidates alternately, so that other work of the device disturbs both. */
static int repeat_trials(Choice *choice, AldFailure *failure)
{
        double rates[2][ROUNDS];
        unsigned n = 0;

        while (n < ROUNDS && (n == 0 || elapsed(choice) < choice->options->seconds_max)) {
                for (unsigned i = 0; i < 2; i++) {
                        int r = time_trial(choice, choice->candidates[i].job, &rates[i][n], failure);

                        if (r < 0)
                                return r;
                }
                n++;
        }
        for (unsigned i = 0; i < 2; i++) {
                qsort(rates[i], n, sizeof rates[i][0], compare_rates);
                choice->candidates[i].rate = rates[i][n / 2];
        }
        return 0;
}

/* Chooses between the candidates. A single short trial on a busy device is not enough reason to omit the
 * figure of FP16, so trials are repeated before that. */
static int decide_candidate(Choice *choice, AldFailure *failure)
{
        const Candidate *other = &choice->candidates[false], *fp16 = &choice->candidates[true];
        int r = 0;

        if (other->job && fp16->job && fp16->rate < other->rate)
                r = repeat_trials(choice, failure);
        choice->job = !other->job || (fp16->job && fp16->rate >= other->rate) ? fp16->job : other->job;
        return r;
}

static int choose_job(Choice *choice, AldFailure *failure)
{
        int r;

        if (choice->options->variant) {
                r = try_named(choice, failure);
        } else {
                r = try_all(choice, ALD_FIT_YES, failure);
                if (r >= 0 && !has_any(choice))
                        r = try_all(choice, ALD_FIT_LAST_RESORT, failure);
        }
        if (r < 0)
                return r;
        if (has_any(choice))
                return decide_candidate(choice, failure);
        if (!choice->refusals.reasons)
                return ald_fail(failure, ALD_FAILURE_BUILD_FAILED,
                        "no kernel for this device multiplies matrices of %u rows: most want a multiple of "
                        "%u",
                        choice->buffers.n, ALD_GEMM_N_MIN);
        return ald_refusals_fail(&choice->refusals, failure);
}

static int measure_job(Choice *choice, AldMeasure *ret, AldFailure *failure)
{
        const AldGemmVariant *variant = choice->job->variant;
        AldMeterOptions options = {
                .measure = choice->options,
                .variant = variant->name,
                .seconds_max = MAX(
                        choice->options->seconds_max - elapsed(choice), choice->options->seconds_max / 3),
        };
        AldMeasure measure = {
                .method = variant->name,
                .precision = variant->precision,
                .accumulator = variant->accumulator,
                .fp16_hardware = variant->fp16_hardware,
        };
        int r;

        choice->job->failure = failure;
        r = ald_meter_run(choice->session, &options, ald_gemm_job_launch, choice->job,
                ald_gemm_work(choice->buffers.n), &measure.meter, failure);
        if (r >= 0)
                r = ald_gemm_buffers_check(&choice->buffers, variant, failure);
        if (r < 0)
                return r;
        ald_refusals_list(&choice->refusals, measure.refused, sizeof measure.refused);
        *ret = measure;
        return 0;
}

static int measure_size(AldOpenclSession *session, const AldGemmVariants *variants,
        const AldMeasureOptions *options, unsigned n, AldMeasure *ret, AldFailure *failure)
{
        Choice choice = {
                .session = session,
                .variants = variants,
                .options = options,
                .buffers = { .session = session, .n = n },
                .start_nsec = ald_now(),
        };
        int r = choose_job(&choice, failure);

        if (r >= 0)
                r = measure_job(&choice, ret, failure);
        choice_clear(&choice);
        return r;
}

int ald_gemm_measure_among(AldOpenclSession *session, const AldGemmVariants *variants,
        const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        bool reduced = false;
        unsigned n = options->size > 0 ? options->size
                                       : ald_gemm_size(session->facts, session->memory_free, &reduced);
        int r;

        if (n == 0 || n > ALD_GEMM_N_MAX)
                return ald_fail(failure, ALD_FAILURE_OUT_OF_MEMORY, "too little memory for a matrix product");
        for (;;) {
                r = measure_size(session, variants, options, n, ret, failure);
                if (r != -ENOMEM || options->size > 0 || n / 2 < ALD_GEMM_N_MIN)
                        break;
                ald_failure_clear(failure);
                n /= 2;
                reduced = true;
        }
        if (r >= 0 && reduced)
                ret->meter.flags |= ALD_FLAG_REDUCED;
        return r;
}

int ald_gemm_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return ald_gemm_measure_among(session, &ald_gemm_variants, options, ret, failure);
}
