/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is for NVIDIA's GPUs, as far as it goes without one. */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/compute/devices.h"
#include "probes/compute/gemm-job.h"
#include "probes/compute/kernels.h"
#include "probes/compute/nvidia.h"
#include "probes/compute/ptx.h"
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

static AldDevice device_of(AldVendor vendor, unsigned major, unsigned minor)
{
        return (AldDevice){ .type = ALD_DEVICE_GPU, .vendor = vendor, .nv_major = major, .nv_minor = minor };
}

static void assert_fits(AldVendor vendor, unsigned major, unsigned minor, AldFit mma, AldFit wgmma)
{
        AldDevice device = device_of(vendor, major, minor);

        g_assert_cmpint(ald_nvidia_fit_mma(&device), ==, mma);
        g_assert_cmpint(ald_nvidia_fit_wgmma(&device), ==, wgmma);
}

static void test_fits(void)
{
        assert_fits(ALD_VENDOR_NVIDIA, 6, 1, ALD_FIT_NO, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 7, 0, ALD_FIT_NO, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 7, 5, ALD_FIT_YES, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 8, 9, ALD_FIT_YES, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 9, 0, ALD_FIT_YES, ALD_FIT_YES);
        assert_fits(ALD_VENDOR_NVIDIA, 12, 0, ALD_FIT_YES, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_NVIDIA, 0, 0, ALD_FIT_NO, ALD_FIT_NO);
        assert_fits(ALD_VENDOR_AMD, 9, 0, ALD_FIT_NO, ALD_FIT_NO);
}

/* The product by the kernel of a variant, with its instructions emulated on PoCL: 0, or the kind of failure.
 */
static int emulate(AldSession *session, const char *name, const char *instructions, unsigned n)
{
        AldGemmVariant variant = *ald_gemm_variant_find(&ald_gemm_variants, name);
        g_autofree char *source = g_strconcat(instructions, variant.source, NULL);
        g_autofree char *options = g_strdup_printf("-DGROUP=%u", variant.local_columns);
        AldGemmBuffers buffers = { .session = session, .n = n };
        AldGemmJob *job = NULL;
        AldFailure failure = {};
        int r, kind;

        variant.source = source;
        variant.options = options;
        variant.build = NULL;
        r = ald_gemm_buffers_prepare(&buffers, &variant, &failure);
        if (r >= 0)
                r = ald_gemm_buffers_spoil(&buffers, &failure);
        if (r >= 0)
                r = ald_gemm_job_new(&buffers, &variant, &failure, &job);
        if (r >= 0)
                r = ald_gemm_job_launch(job, NULL);
        if (r >= 0)
                r = ald_gemm_buffers_check(&buffers, &variant, &failure);
        if (r < 0)
                g_test_message("%s: %s", name, failure.message);
        kind = r < 0 ? (int) failure.kind : 0;
        g_clear_pointer(&job, ald_gemm_job_free);
        ald_gemm_buffers_clear(&buffers);
        ald_failure_clear(&failure);
        return kind;
}

static void test_emulated(void)
{
        g_autofree char *hopper = g_strconcat(
                ald_kernel_emulated_nvidia, ald_kernel_emulated_nvidia_hopper, NULL);
        AldFailure failure = {};
        AldSession session = {};
        AldCl cl;

        if (ald_cl_open(&cl, &failure) < 0 || ald_session_open(&session, &cl, ALD_CPU_ID, &failure) < 0) {
                g_test_skip(failure.message);
                ald_failure_clear(&failure);
                return;
        }
        g_assert_cmpint(emulate(&session, "nvidia-mma", ald_kernel_emulated_nvidia, 128), ==, 0);
        g_assert_cmpint(emulate(&session, "nvidia-mma", ald_kernel_emulated_nvidia, 384), ==, 0);
        g_assert_cmpint(emulate(&session, "nvidia-wgmma", hopper, 256), ==, 0);
        g_assert_cmpint(emulate(&session, "nvidia-wgmma", hopper, 512), ==, 0);
        ald_session_close(&session);
}

int main(int argc, char **argv)
{
        g_autofree char *cache = g_dir_make_tmp("alidade-nvidia-XXXXXX", NULL);
        g_autofree char *remove = g_strdup_printf("rm -rf '%s'", cache);
        int r;

        g_test_init(&argc, &argv, NULL);
        g_setenv("POCL_CACHE_DIR", cache, TRUE);
        g_test_add_func("/compute-nvidia/ptx", test_ptx);
        g_test_add_func("/compute-nvidia/ptx-size", test_ptx_size);
        g_test_add_func("/compute-nvidia/fits", test_fits);
        g_test_add_func("/compute-nvidia/emulated", test_emulated);
        r = g_test_run();
        return system(remove) == 0 ? r : 1;
}
