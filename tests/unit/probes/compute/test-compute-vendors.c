/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is for the GPUs of one vendor, as far as it goes without one. */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/compute/gemm/gemm-job.h"
#include "probes/compute/gemm/vendors.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/opencl/ptx.h"
#include "tests/unit/emulated-kernels.h"

static void assert_ptx(const char *ptx, const char *expected)
{
        g_autofree char *changed = ald_ptx_uncomment(ptx, strlen(ptx), "sm_90", "sm_90a");

        g_assert_cmpstr(changed, ==, expected);
}

static void test_ptx(void)
{
        assert_ptx(".version 8.0\n.target sm_90, texmode_independent\n.entry "
                   "f\n{\n\t//@wgmma.fence.sync.aligned;\n}\n",
                ".version 8.0\n.target sm_90a, texmode_independent\n.entry "
                "f\n{\n\twgmma.fence.sync.aligned;\n}\n");
        assert_ptx(".target sm_90\n//@{add; //@ more;}\n// as it was",
                ".target sm_90a\n{add; //@ more;}\n// as it was");
        assert_ptx(".target sm_90\n\t// a comment\n", NULL);
        assert_ptx(".target sm_90a\n//@ret;\n", NULL);
        assert_ptx(".target sm_901\n//@ret;\n", NULL);
        assert_ptx(".target sm_89\n//@ret;\n", NULL);
        assert_ptx("//@ret;\n", NULL);
        assert_ptx(".target sm_90\n.target sm_90\n//@ret;\n", NULL);
        assert_ptx("\177ELF", NULL);
        assert_ptx("", NULL);
}

/* The size is believed, and no zero after it is needed. */
static void test_ptx_size(void)
{
        g_autofree char *changed = ald_ptx_uncomment(
                ".target sm_90\n//@ret;\n.target sm_90\n", 22, "sm_90", "sm_90a");

        g_assert_cmpstr(changed, ==, ".target sm_90a\nret;\n");
}

static AldOpenclTarget device_of(AldVendor vendor, unsigned major, unsigned minor)
{
        return (AldOpenclTarget){
                .type = ALD_LISTED_DEVICE_TYPE_GPU, .vendor = vendor, .nv_major = major, .nv_minor = minor
        };
}

static void assert_fits(
        AldVendor vendor, unsigned major, unsigned minor, AldFit wmma, AldFit mma, AldFit wgmma)
{
        AldOpenclTarget device = device_of(vendor, major, minor);

        g_assert_cmpint(ald_nvidia_fit_wmma(&device), ==, wmma);
        g_assert_cmpint(ald_nvidia_fit_mma(&device), ==, mma);
        g_assert_cmpint(ald_nvidia_fit_wgmma(&device), ==, wgmma);
}

static void test_fits(void)
{
        assert_fits(ALD_VENDOR_NVIDIA, 6, 1, ALD_FIT_NO, ALD_FIT_NO, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 7, 0, ALD_FIT_YES, ALD_FIT_NO, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 7, 5, ALD_FIT_YES, ALD_FIT_YES, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 8, 9, ALD_FIT_YES, ALD_FIT_YES, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 9, 0, ALD_FIT_YES, ALD_FIT_YES, ALD_FIT_YES);
        assert_fits(ALD_VENDOR_NVIDIA, 12, 0, ALD_FIT_YES, ALD_FIT_YES, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 0, 0, ALD_FIT_NO, ALD_FIT_NO, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_AMD, 9, 0, ALD_FIT_NO, ALD_FIT_NO, ALD_FIT_NO);
}

static void test_fits_others(void)
{
        static const struct {
                const char *gfx;
                AldFit mfma, wmma;
        } cases[] = { { "gfx942:sramecc+:xnack-", ALD_FIT_YES, ALD_FIT_NO },
                { "gfx90a", ALD_FIT_YES, ALD_FIT_NO }, { "gfx1100", ALD_FIT_NO, ALD_FIT_YES },
                { "gfx1030", ALD_FIT_NO, ALD_FIT_NO }, { "gfx9", ALD_FIT_NO, ALD_FIT_NO },
                { "", ALD_FIT_NO, ALD_FIT_NO }, { "gfx9421", ALD_FIT_NO, ALD_FIT_NO } };
        AldOpenclTarget intel = device_of(ALD_VENDOR_INTEL, 0, 0);

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_GPU,
                        .vendor = ALD_VENDOR_AMD,
                        .gfx = (char *) cases[i].gfx };

                g_assert_cmpint(ald_amd_fit_mfma(&device), ==, cases[i].mfma);
                g_assert_cmpint(ald_amd_fit_wmma(&device), ==, cases[i].wmma);
        }
        intel.extensions = " cl_khr_fp16 cl_intel_subgroup_matrix_multiply_accumulate ";
        g_assert_cmpint(ald_intel_fit_matrix(&intel), ==, ALD_FIT_YES);
        intel.extensions = " cl_intel_subgroup_matrix_multiply_accumulate_tf32 ";
        g_assert_cmpint(ald_intel_fit_matrix(&intel), ==, ALD_FIT_NO);
}

/* A variant on PoCL, its instructions emulated. */
typedef struct Emulation {
        const char *variant;
        const char *instructions, *more; /* more may be NULL */
        const char *options;
        unsigned sizes[2];
} Emulation;

static const Emulation emulations[] = {
        { "nvidia-wmma", ald_kernel_emulated_nvidia_volta, NULL, "", { 128, 384 } },
        { "nvidia-mma", ald_kernel_emulated_nvidia, NULL, "", { 128, 384 } },
        { "nvidia-wgmma", ald_kernel_emulated_nvidia, ald_kernel_emulated_nvidia_hopper, "", { 256, 512 } },
        { "amd-mfma", ald_kernel_emulated_amd, NULL, "-DWAVE=64 -DUNIT=32 -DUNIT_DEPTH=8 -DPER_LANE=4",
                { 128, 384 } },
        { "amd-wmma", ald_kernel_emulated_amd, NULL, "-DWAVE=32 -DUNIT=16 -DUNIT_DEPTH=16 -DPER_LANE=16",
                { 128, 384 } },
        { "amd-wmma", ald_kernel_emulated_amd, NULL, "-DWAVE=32 -DUNIT=16 -DUNIT_DEPTH=16 -DPER_LANE=8",
                { 128, 384 } },
        { "intel-dpas-8", ald_kernel_emulated_intel, NULL, "-DSUBGROUP=8", { 128, 384 } },
        { "intel-dpas-16", ald_kernel_emulated_intel, NULL, "-DSUBGROUP=16", { 128, 384 } },
};

static int multiply(AldOpenclSession *session, const AldGemmVariant *variant, unsigned n, AldFailure *failure)
{
        AldGemmBuffers buffers = { .session = session, .n = n };
        AldGemmJob *job = NULL;
        int r = ald_gemm_buffers_prepare(&buffers, variant, failure);

        if (r >= 0)
                r = ald_gemm_buffers_invalidate(&buffers, failure);
        if (r >= 0)
                r = ald_gemm_job_new(&buffers, variant, failure, &job);
        if (r >= 0)
                r = ald_gemm_job_launch(job, NULL);
        if (r >= 0)
                r = ald_gemm_buffers_check(&buffers, variant, failure);
        g_clear_pointer(&job, ald_gemm_job_free);
        ald_gemm_buffers_clear(&buffers);
        return r;
}

static void emulate(AldOpenclSession *session, const Emulation *emulation, unsigned n)
{
        AldGemmVariant variant = *ald_gemm_variant_find(&ald_gemm_variants, emulation->variant);
        g_autofree char *source = g_strconcat(
                emulation->instructions, emulation->more ?: "", variant.source, NULL);
        g_autofree char *options = g_strdup_printf(
                "-w -DGROUP=%u %s", variant.local_columns, emulation->options);
        AldFailure failure = {};

        variant.source = source;
        variant.options = options;
        variant.build = NULL;
        if (multiply(session, &variant, n, &failure) < 0)
                g_error("%s %s, n = %u: %s", variant.name, emulation->options, n, failure.message);
}

static void test_emulated(void)
{
        AldFailure failure = {};
        AldOpenclSession session = {};
        AldCl cl;

        if (ald_cl_open(&cl, &failure) < 0 ||
                ald_opencl_session_open(&session, &cl, ALD_CPU_ID, &failure) < 0) {
                g_test_skip(failure.message);
                ald_failure_clear(&failure);
                return;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(emulations); i++)
                for (size_t j = 0; j < G_N_ELEMENTS(emulations[i].sizes); j++)
                        emulate(&session, &emulations[i], emulations[i].sizes[j]);
        ald_opencl_session_close(&session);
}

int main(int argc, char **argv)
{
        g_autofree char *cache = g_dir_make_tmp("alidade-vendors-XXXXXX", NULL);
        g_autofree char *remove = g_strdup_printf("rm -rf '%s'", cache);
        int r;

        g_test_init(&argc, &argv, NULL);
        g_setenv("POCL_CACHE_DIR", cache, TRUE);
        g_test_add_func("/compute-vendors/ptx", test_ptx);
        g_test_add_func("/compute-vendors/ptx-size", test_ptx_size);
        g_test_add_func("/compute-vendors/fits", test_fits);
        g_test_add_func("/compute-vendors/fits-others", test_fits_others);
        g_test_add_func("/compute-vendors/emulated", test_emulated);
        r = g_test_run();
        return system(remove) == 0 ? r : 1;
}
