/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "probes/compute/figures.h"
#include "probes/compute/gemm/gemm.h"

#define TRIES 2u
#define SUSPECT_ABOVE 1.05

/* One metric of one device, while it is measured. */
typedef struct Attempt {
        const AldRunner *runner;
        const AldComputeOptions *options;
        const AldOpenclTarget *device;
        AldMetric metric;
        AldProgress *progress;
        char *variant;      /* the variant that is tried now; NULL if none yet */
        char *simpler_than; /* the variant that failed before; NULL if none */
} Attempt;

static void on_step(const AldComputeStep *step, void *userdata)
{
        Attempt *attempt = userdata;
        int phase = ald_compute_step_phase_from_string(step->phase);

        if (g_strcmp0(attempt->variant, step->variant) != 0) {
                g_free(attempt->variant);
                attempt->variant = g_strdup(step->variant);
        }
        ald_progress_report(attempt->progress, ald_compute_step_phase_to_string((AldComputeStepPhase) phase),
                isnan(step->fraction) ? 0 : step->fraction);
}

static char **make_arguments(const Attempt *attempt)
{
        GPtrArray *all = g_ptr_array_new();
        char seconds[G_ASCII_DTOSTR_BUF_SIZE];

        g_ascii_dtostr(seconds, sizeof seconds, attempt->options->seconds_max);
        g_ptr_array_add(all, g_strdup_printf("--ordinal=%u", attempt->device->ordinal));
        g_ptr_array_add(all, g_strdup_printf("--name=%s", attempt->device->listed.name));
        if (attempt->device->listed.pci)
                g_ptr_array_add(all, g_strdup_printf("--pci=%s", attempt->device->listed.pci));
        g_ptr_array_add(all, g_strdup_printf("--metric=%s", ald_metric_to_string(attempt->metric)));
        g_ptr_array_add(all, g_strdup_printf("--seconds-max=%s", seconds));
        if (attempt->options->gives_way)
                g_ptr_array_add(all, g_strdup("--give-way"));
        if (attempt->options->size > 0 && attempt->metric == ALD_METRIC_GEMM)
                g_ptr_array_add(all, g_strdup_printf("--size=%u", attempt->options->size));
        if (attempt->options->variant && attempt->metric == ALD_METRIC_GEMM)
                g_ptr_array_add(all, g_strdup_printf("--variant=%s", attempt->options->variant));
        else if (attempt->simpler_than)
                g_ptr_array_add(all, g_strdup_printf("--simpler-than=%s", attempt->simpler_than));
        g_ptr_array_add(all, NULL);
        return (char **) g_ptr_array_free(all, FALSE);
}

static int try_once(Attempt *attempt, AldRecord **ret, AldFailure *failure)
{
        g_auto(GStrv) arguments = make_arguments(attempt);
        g_autoptr(AldRecord) answer = NULL;
        int r = ald_runner_run(attempt->runner, (const char *const *) arguments, attempt->device->drivers,
                on_step, attempt, &answer, failure);

        if (r < 0)
                return r;
        if (answer->kind != ALD_KIND_COMPUTE_MEASURE)
                return ald_fail(failure, ALD_FAILURE_CRASHED, "the process sent no figure");
        *ret = g_steal_pointer(&answer);
        return 0;
}

/* A new process may succeed without the kernel that failed. */
static bool is_worth_another(AldFailureKind kind)
{
        return kind == ALD_FAILURE_CRASHED || kind == ALD_FAILURE_TIMEOUT || kind == ALD_FAILURE_DEVICE_LOST;
}

/* Sets the failure, with the variant that was running after a crash or timeout. */
static void set_failure(const Attempt *attempt, const AldFailure *why, AldFailure *failure)
{
        ald_failure_clear(failure);
        if (attempt->variant && (why->kind == ALD_FAILURE_CRASHED || why->kind == ALD_FAILURE_TIMEOUT))
                (void) ald_fail(failure, why->kind, "%s, in %s", why->message, attempt->variant);
        else
                (void) ald_fail(failure, why->kind, "%s", why->message);
}

static int measure_with_retry(Attempt *attempt, AldRecord **ret, AldFailure *failure)
{
        int r = 0;

        for (unsigned n = 0; n < TRIES; n++) {
                AldFailure one = {};

                r = try_once(attempt, ret, &one);
                if (r >= 0) {
                        ald_failure_clear(failure);
                        return 0;
                }
                /* A missing simpler variant is a less useful reason than the previous crash. */
                if (n == 0 || one.kind != ALD_FAILURE_BUILD_FAILED)
                        set_failure(attempt, &one, failure);
                ald_failure_clear(&one);
                if (!is_worth_another(failure->kind))
                        break;
                g_free(attempt->simpler_than);
                attempt->simpler_than = g_steal_pointer(&attempt->variant);
        }
        return r;
}

static int measure_metric(const AldRunner *runner, const AldComputeOptions *options,
        const AldOpenclTarget *device, AldMetric metric, AldProgress *progress, AldFigures *figures)
{
        g_autofree char *label = g_strdup_printf("%s %s", device->listed.id, ald_metric_to_string(metric));
        Attempt attempt = {
                .runner = runner,
                .options = options,
                .device = device,
                .metric = metric,
                .progress = progress,
        };
        int r;

        progress->device = device->listed.id;
        progress->metric = ald_metric_to_string(metric);
        progress->label = label;
        r = measure_with_retry(&attempt, &figures->answers[metric], &figures->failures[metric]);
        ald_progress_end(progress);
        progress->device = progress->metric = NULL;
        progress->label = NULL;
        g_free(attempt.variant);
        g_free(attempt.simpler_than);
        return r;
}

/* A variant that hung twice will hang again, and costs the whole time limit each time; a busy machine remains
 * busy. */
static bool is_hopeless(const AldFailure *failure)
{
        return failure->message &&
               (failure->kind == ALD_FAILURE_TIMEOUT || failure->kind == ALD_FAILURE_BUSY ||
                       failure->kind == ALD_FAILURE_ABORTED || failure->kind == ALD_FAILURE_NO_SUCH_DEVICE);
}

/* Returns whether the peak bounds the matrix product: it is of the same types by the same units, and itself
 * beyond doubt. */
static bool is_comparable(const AldComputeMeasure *peak, unsigned flags, const AldComputeMeasure *gemm)
{
        const AldGemmVariant *variant = ald_gemm_variant_find(&ald_gemm_variants, gemm->method);

        return !(flags & (ALD_FLAG_BUSY | ALD_FLAG_UNSTABLE)) &&
               g_strcmp0(peak->precision, gemm->precision) == 0 &&
               g_strcmp0(peak->accumulator, gemm->accumulator) == 0 &&
               (!variant || !variant->peak || g_strcmp0(variant->peak, peak->method) == 0);
}

const AldComputeMeasure *ald_figures_of(const AldFigures *figures, AldMetric metric)
{
        return ald_record_as(figures->answers[metric], COMPUTE_MEASURE, AldComputeMeasure);
}

unsigned ald_figures_flags(const AldFigures *figures, AldMetric metric)
{
        const AldComputeMeasure *measure = ald_figures_of(figures, metric);
        unsigned suspect = figures->suspect && metric == ALD_METRIC_GEMM ? ALD_FLAG_SUSPECT : 0;

        return measure ? ald_flags_from_words(measure->flags) | suspect : 0;
}

void ald_figures_check(AldFigures *figures)
{
        const AldComputeMeasure *peak = ald_figures_of(figures, ALD_METRIC_PEAK);
        const AldComputeMeasure *gemm = ald_figures_of(figures, ALD_METRIC_GEMM);

        figures->suspect = gemm && peak &&
                           is_comparable(peak, ald_figures_flags(figures, ALD_METRIC_PEAK), gemm) &&
                           gemm->best > SUSPECT_ABOVE * peak->best;
}

/* Returns whether to measure the metric. If all were requested, only those that apply to the device are. */
static bool is_wanted(const AldComputeOptions *options, const AldOpenclTarget *device, AldMetric metric)
{
        return (options->metrics & 1u << metric) &&
               (options->metrics != ALD_METRICS_ALL || ald_metric_applies(metric, device));
}

void ald_figures_measure(const AldRunner *runner, const AldComputeOptions *options,
        const AldOpenclTarget *device, AldProgress *progress, AldFigures *ret)
{
        const AldFailure *last = NULL;

        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                if (!is_wanted(options, device, metric))
                        continue;
                if (!ald_metric_applies(metric, device)) {
                        (void) ald_fail(&ret->failures[metric], ALD_FAILURE_NO_DEVICE_MEMORY,
                                "the device computes in host memory");
                        continue;
                }
                if (last) {
                        (void) ald_fail(&ret->failures[metric], last->kind, "not tried: %s", last->message);
                        continue;
                }
                if (measure_metric(runner, options, device, metric, progress, ret) < 0 &&
                        is_hopeless(&ret->failures[metric]))
                        last = &ret->failures[metric];
        }
        ald_figures_check(ret);
        ret->measured = (uint64_t) g_get_real_time();
}

void ald_figures_clear(AldFigures *figures)
{
        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++) {
                g_clear_pointer(&figures->answers[metric], ald_record_unref);
                ald_failure_clear(&figures->failures[metric]);
        }
        *figures = (AldFigures){};
}

bool ald_figures_any(const AldFigures *figures)
{
        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++)
                if (figures->answers[metric])
                        return true;
        return false;
}

bool ald_figures_aborted(const AldFigures *figures)
{
        for (AldMetric metric = 0; metric < _ALD_METRIC_MAX; metric++)
                if (figures->failures[metric].message &&
                        figures->failures[metric].kind == ALD_FAILURE_ABORTED)
                        return true;
        return false;
}
