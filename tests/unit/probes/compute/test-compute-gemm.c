/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "probes/compute/gemm/gemm-job.h"
#include "probes/compute/opencl/devices.h"

/* On PoCL, which makes a device of any processor. */
typedef struct Fixture {
        AldCl cl;
        AldOpenclSession session;
        bool there;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        AldFailure failure = {};

        fixture->there = ald_cl_open(&fixture->cl, &failure) >= 0 &&
                         ald_opencl_session_open(&fixture->session, &fixture->cl, ALD_CPU_ID, &failure) >= 0;
        if (!fixture->there)
                g_test_skip(failure.message);
        ald_failure_clear(&failure);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        if (fixture->there)
                ald_opencl_session_close(&fixture->session);
}

/* One product by this variant: 0, or the kind of failure. */
static int once(AldOpenclSession *session, const AldGemmVariant *variant, unsigned n)
{
        AldGemmBuffers buffers = { .session = session, .n = n };
        AldGemmJob *job = NULL;
        AldFailure failure = {};
        int r = ald_gemm_buffers_prepare(&buffers, variant, &failure), kind = 0;

        if (r >= 0)
                r = ald_gemm_buffers_invalidate(&buffers, &failure);
        if (r >= 0)
                r = ald_gemm_job_new(&buffers, variant, &failure, &job);
        if (r >= 0)
                r = ald_gemm_job_launch(job, NULL);
        if (r >= 0)
                r = ald_gemm_buffers_check(&buffers, variant, &failure);
        if (r < 0)
                g_test_message("%s, n = %u: %s", variant->name, n, failure.message);
        if (r < 0)
                kind = (int) failure.kind;
        g_clear_pointer(&job, ald_gemm_job_free);
        ald_gemm_buffers_clear(&buffers);
        ald_failure_clear(&failure);
        return kind;
}

/* Every kernel that PoCL can build is right, whether n is a multiple of its tile or not. */
static void test_right(Fixture *fixture, gconstpointer data)
{
        static const unsigned sizes[] = { 128, 288 };
        unsigned done = 0;

        for (size_t i = 0; fixture->there && i < ald_gemm_variants.n; i++) {
                const AldGemmVariant *variant = &ald_gemm_variants.variants[i];

                if (variant->fit(fixture->session.facts) == ALD_FIT_NO)
                        continue;
                for (size_t j = 0; j < G_N_ELEMENTS(sizes); j++) {
                        if (sizes[j] % variant->multiple != 0)
                                continue;
                        g_assert_cmpint(once(&fixture->session, variant, sizes[j]), ==, 0);
                        done++;
                }
        }
        if (fixture->there)
                g_assert_cmpuint(done, >=, 5);
}

/* With whole rows of B in a panel several times over. */
static void test_deep(Fixture *fixture, gconstpointer data)
{
        for (size_t i = 0; fixture->there && i < ald_gemm_variants.n; i++) {
                const AldGemmVariant *variant = &ald_gemm_variants.variants[i];

                if (variant->fit(fixture->session.facts) == ALD_FIT_YES)
                        g_assert_cmpint(once(&fixture->session, variant, 1056), ==, 0);
        }
}

/* What PoCL lacks of fp16. */
#define EMULATED_HALF                                                                    \
        "float4 unpacked(uint2 bits) { return vload_half4(0, (const half *) &bits); }\n" \
        "#define as_half4 unpacked\n"                                                    \
        "#define half4 float4\n"                                                         \
        "#define half float\n"

static void test_half(Fixture *fixture, gconstpointer data)
{
        AldGemmVariant variant = *ald_gemm_variant_find(&ald_gemm_variants, "tiled-half");
        g_autofree char *source = g_strconcat(EMULATED_HALF, variant.source, NULL);

        variant.source = source;
        variant.fp16_sums = false;
        if (fixture->there)
                g_assert_cmpint(once(&fixture->session, &variant, 256), ==, 0);
}

#define KERNEL \
        "__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n)"
#define SUM(x, y)                                                          \
        "{ int i = get_global_id(1), j = get_global_id(0); float sum = 0;" \
        "  for (int k = 0; k < n; k++) sum += a[" x "] * b[" y "];"
#define RIGHT KERNEL SUM("i * n + k", "k * n + j") " c[i * n + j] = sum; }"
#define TRANSPOSED KERNEL SUM("i * n + k", "k * n + j") " c[j * n + i] = sum; }"
#define ONE_OFF KERNEL SUM("i * n + k", "k * n + j") " c[i * n + j] = i == 77 && j == 9 ? sum + 1 : sum; }"
#define SHORT KERNEL SUM("i * n + k", "k * n + j") " if (i != n - 1) c[i * n + j] = sum; }"
#define NOTHING KERNEL "{ }"
#define BROKEN KERNEL "{ no such thing }"

static AldFit fit_always(const AldOpenclTarget *device)
{
        return ALD_FIT_YES;
}

static AldGemmVariant plain(const char *name, const char *source)
{
        return (AldGemmVariant){
                .name = name,
                .precision = "fp32",
                .accumulator = "fp32",
                .fit = fit_always,
                .element = ALD_ELEMENT_FP32,
                .multiple = 1,
                .source = source,
                .tile_columns = 1,
                .tile_rows = 1,
                .local_columns = 1,
                .local_rows = 1,
        };
}

static void test_wrong(Fixture *fixture, gconstpointer data)
{
        static const struct {
                const char *name, *source;
                AldFailureKind kind;
        } cases[] = {
                { "right", RIGHT, 0 },
                { "transposed", TRANSPOSED, ALD_FAILURE_WRONG_RESULT },
                { "one-off", ONE_OFF, ALD_FAILURE_WRONG_RESULT },
                { "short", SHORT, ALD_FAILURE_WRONG_RESULT },
                { "nothing", NOTHING, ALD_FAILURE_WRONG_RESULT },
                { "broken", BROKEN, ALD_FAILURE_BUILD_FAILED },
        };

        for (size_t i = 0; fixture->there && i < G_N_ELEMENTS(cases); i++) {
                AldGemmVariant variant = plain(cases[i].name, cases[i].source);

                g_assert_cmpint(once(&fixture->session, &variant, 128), ==, (int) cases[i].kind);
        }
}

/* Another program holds the device during the first trial of this variant. */
static struct {
        const char *variant;
        cl_int (*wait)(cl_uint n, const cl_event *events);
        bool now;
} disturbance;

static cl_int wait_disturbed(cl_uint n, const cl_event *events)
{
        if (disturbance.now)
                g_usleep(100000);
        return disturbance.wait(n, events);
}

static void note_phase(AldComputeStepPhase phase, const char *variant, double fraction, void *userdata)
{
        GString *seen = userdata;

        disturbance.now = false;
        if (phase != ALD_COMPUTE_STEP_PHASE_TRIAL)
                return;
        g_string_append_printf(seen, "%s ", variant);
        disturbance.now = g_strcmp0(variant, disturbance.variant) == 0;
        if (disturbance.now)
                disturbance.variant = NULL;
}

static int measure_among(Fixture *fixture, const AldGemmVariants *variants, AldMeasureOptions options,
        AldMeasure *ret, char **ret_seen)
{
        g_autoptr(GString) seen = g_string_new(NULL);
        AldFailure failure = {};
        int r;

        options.progress = note_phase;
        options.userdata = seen;
        if (options.seconds_max == 0)
                options.seconds_max = 0.3;
        r = ald_gemm_measure_among(&fixture->session, variants, &options, ret, &failure);
        *ret_seen = r < 0 ? g_strdup(failure.message) : g_strdup(seen->str);
        r = r < 0 ? -(int) failure.kind : 0;
        ald_failure_clear(&failure);
        return r;
}

/* A wrong one, however fast, is refused by its name; what follows the one that crashed is tried. */
static void test_refused(Fixture *fixture, gconstpointer data)
{
        const AldGemmVariant table[] = { plain("nothing", NOTHING), plain("broken", BROKEN),
                plain("one-off", ONE_OFF), plain("right", RIGHT) };
        const AldGemmVariants all = { table, G_N_ELEMENTS(table) }, bad = { table, 2 };
        g_autofree char *seen = NULL, *later = NULL, *reasons = NULL, *unknown = NULL;
        AldMeasure measure = {};

        if (!fixture->there)
                return;
        g_assert_cmpint(
                measure_among(fixture, &all, (AldMeasureOptions){ .size = 128 }, &measure, &seen), ==, 0);
        g_assert_cmpstr(measure.method, ==, "right");
        g_assert_cmpstr(measure.refused, ==, "nothing one-off");
        g_assert_cmpstr(seen, ==, "nothing one-off right ");
        g_assert_cmpfloat(measure.meter.best, >, 0);

        g_assert_cmpint(
                measure_among(fixture, &all, (AldMeasureOptions){ .size = 128, .simpler_than = "broken" },
                        &measure, &later),
                ==, 0);
        g_assert_cmpstr(later, ==, "one-off right ");

        g_assert_cmpint(measure_among(fixture, &bad, (AldMeasureOptions){ .size = 128 }, &measure, &reasons),
                ==, -(int) ALD_FAILURE_WRONG_RESULT);
        g_assert_nonnull(strstr(reasons, "nothing: row 0, column 0 of the product is nan, not "));
        g_assert_nonnull(strstr(reasons, "; broken: cannot be compiled"));

        g_assert_cmpint(measure_among(fixture, &bad, (AldMeasureOptions){ .size = 128, .variant = "fast" },
                                &measure, &unknown),
                ==, -(int) ALD_FAILURE_INTERNAL);
        g_assert_cmpstr(unknown, ==, "unknown variant fast");
}

#define SLOW                                                                           \
        KERNEL "{ int i = get_global_id(1), j = get_global_id(0); float sum = 0;"      \
               "  for (int t = 0; t < 8; t++) { sum *= 0;"                             \
               "    for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j]; }" \
               "  c[i * n + j] = sum; }"

/* A device keeps its FP16 although one trial of it was disturbed, unless it is indeed slower. */
static void test_disturbed(Fixture *fixture, gconstpointer data)
{
        static const struct {
                const char *fp16, *fp32, *disturbed, *method, *seen;
        } cases[] = {
                { RIGHT, SLOW, NULL, "half", "half single " },
                { RIGHT, SLOW, "half", "half", "half single single half single half single half " },
                { SLOW, RIGHT, NULL, "single", "half single single half single half single half " },
        };

        for (size_t i = 0; fixture->there && i < G_N_ELEMENTS(cases); i++) {
                AldGemmVariant table[] = { plain("half", cases[i].fp16), plain("single", cases[i].fp32) };
                const AldGemmVariants variants = { table, G_N_ELEMENTS(table) };
                g_autofree char *seen = NULL;
                AldMeasure measure = {};

                table[0].precision = "fp16";
                table[0].fp16_hardware = true;
                disturbance.variant = cases[i].disturbed;
                disturbance.wait = fixture->cl.WaitForEvents;
                fixture->cl.WaitForEvents = wait_disturbed;
                g_assert_cmpint(
                        measure_among(fixture, &variants,
                                (AldMeasureOptions){ .size = 128, .seconds_max = 8 }, &measure, &seen),
                        ==, 0);
                fixture->cl.WaitForEvents = disturbance.wait;
                g_assert_cmpstr(seen, ==, cases[i].seen);
                g_assert_cmpstr(measure.method, ==, cases[i].method);
                g_assert_true(measure.fp16_hardware == g_str_equal(cases[i].method, "half"));
        }
}

/* A processor is measured by a tile made for it, not by one for GPUs. */
static void test_chosen(Fixture *fixture, gconstpointer data)
{
        g_autofree char *seen = NULL, *tiled = NULL, *odd = NULL;
        AldMeasure best = {}, gpu = {};

        if (!fixture->there)
                return;
        g_assert_cmpint(
                measure_among(fixture, &ald_gemm_variants, (AldMeasureOptions){ .size = 512 }, &best, &seen),
                ==, 0);
        g_assert_true(g_str_has_prefix(best.method, "cpu-"));
        g_assert_cmpstr(best.refused, ==, "");
        g_assert_cmpstr(best.precision, ==, "fp32");
        g_assert_false(best.fp16_hardware);
        g_assert_cmpint(measure_among(fixture, &ald_gemm_variants,
                                (AldMeasureOptions){ .size = 512, .variant = "tiled-fp32" }, &gpu, &tiled),
                ==, 0);
        g_assert_cmpstr(gpu.method, ==, "tiled-fp32");
        g_assert_cmpint(measure_among(fixture, &ald_gemm_variants,
                                (AldMeasureOptions){ .size = 144, .variant = "tiled-fp32" }, &gpu, &odd),
                ==, -(int) ALD_FAILURE_INTERNAL);
        g_assert_cmpstr(odd, ==, "tiled-fp32 requires a size that is a multiple of 128, not 144");
}

static void test_peak(Fixture *fixture, gconstpointer data)
{
        AldMeasureOptions options = { .seconds_max = 0.3 };
        AldFailure failure = {};
        AldMeasure measure = {};

        if (!fixture->there)
                return;
        g_assert_cmpint(ald_peak_measure(&fixture->session, &options, &measure, &failure), ==, 0);
        g_assert_cmpstr(measure.precision, ==, "fp32");
        g_assert_cmpstr(measure.refused, ==, "");
        g_assert_cmpfloat(measure.meter.best, >, 1e9);
}

int main(int argc, char **argv)
{
        g_autofree char *cache = g_dir_make_tmp("alidade-gemm-XXXXXX", NULL);
        g_autofree char *remove = g_strdup_printf("rm -rf '%s'", cache);
        int r;

        g_test_init(&argc, &argv, NULL);
        g_setenv("POCL_CACHE_DIR", cache, TRUE);
#define ADD(name, function) g_test_add("/compute-gemm/" name, Fixture, NULL, set_up, function, tear_down)
        ADD("right", test_right);
        ADD("deep", test_deep);
        ADD("half", test_half);
        ADD("wrong", test_wrong);
        ADD("refused", test_refused);
        ADD("disturbed", test_disturbed);
        ADD("chosen", test_chosen);
        ADD("peak", test_peak);
        r = g_test_run();
        return system(remove) == 0 ? r : 1;
}
