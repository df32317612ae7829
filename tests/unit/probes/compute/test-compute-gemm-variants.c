/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/compute/peak/peak.h"

#define GIB (UINT64_C(1) << 30)

static AldFit fit(const char *name, const AldOpenclTarget *device)
{
        const AldGemmVariant *variant = ald_gemm_variant_find(&ald_gemm_variants, name);

        g_assert_nonnull(variant);
        return variant->fit(device);
}

static void test_table(void)
{
        for (size_t i = 0; i < ald_gemm_variants.n; i++) {
                const AldGemmVariant *variant = &ald_gemm_variants.variants[i];

                g_assert_true(ald_gemm_variant_find(&ald_gemm_variants, variant->name) == variant);
                g_assert_true(strcmp(variant->precision,
                                      variant->element == ALD_ELEMENT_FP16 ? "fp16" : "fp32") == 0);
                g_assert_cmpint(variant->fp16_sums, ==, strcmp(variant->accumulator, "fp16") == 0);
                g_assert_true(
                        variant->source && (!variant->fp16_hardware || variant->element == ALD_ELEMENT_FP16));
                /* Any size that is chosen for a device can be done. */
                g_assert_cmpuint(ALD_GEMM_N_MIN % variant->multiple, ==, 0);
                g_assert_cmpuint(variant->pack_rows, <=, ALD_GEMM_ROWS_OVER);
                if (variant->pack_rows == 0)
                        continue;
                g_assert_cmpuint(variant->tile_rows % variant->pack_rows, ==, 0);
                g_assert_cmpuint(variant->tile_columns % variant->pack_columns, ==, 0);
                g_assert_cmpuint(variant->multiple % variant->pack_columns, ==, 0);
        }
        g_assert_null(ald_gemm_variant_find(&ald_gemm_variants, "no-such"));
}

static void test_fit(void)
{
        AldOpenclTarget avx512 = { .type = ALD_LISTED_DEVICE_TYPE_CPU, .float_width = 16 };
        AldOpenclTarget avx2 = { .type = ALD_LISTED_DEVICE_TYPE_CPU, .float_width = 8 };
        AldOpenclTarget neon = { .type = ALD_LISTED_DEVICE_TYPE_CPU, .float_width = 4 };
        AldOpenclTarget silent = { .type = ALD_LISTED_DEVICE_TYPE_CPU, .float_width = 1 };
        AldOpenclTarget gpu = { .type = ALD_LISTED_DEVICE_TYPE_GPU, .float_width = 1 };

        g_assert_cmpint(fit("cpu-8x32", &avx512), ==, ALD_FIT_YES);
        g_assert_cmpint(fit("cpu-8x32", &avx2), ==, ALD_FIT_NO);
        g_assert_cmpint(fit("cpu-6x16", &avx2), ==, ALD_FIT_YES);
        g_assert_cmpint(fit("cpu-6x16", &neon), ==, ALD_FIT_NO);
        g_assert_cmpint(fit("cpu-8x8", &neon), ==, ALD_FIT_YES);
        g_assert_cmpint(fit("cpu-8x8", &avx512), ==, ALD_FIT_NO);
        g_assert_cmpint(fit("cpu-8x32", &silent), ==, ALD_FIT_YES);
        g_assert_cmpint(fit("cpu-8x8", &silent), ==, ALD_FIT_YES);
        g_assert_cmpint(fit("tiled-fp32", &avx512), ==, ALD_FIT_LAST_RESORT);
        g_assert_cmpint(fit("tiled-fp32", &gpu), ==, ALD_FIT_YES);
        g_assert_cmpint(fit("cpu-8x8", &gpu), ==, ALD_FIT_NO);
        g_assert_cmpint(fit("tiled-half", &gpu), ==, ALD_FIT_NO);
        gpu.has_fp16 = true;
        g_assert_cmpint(fit("tiled-half", &gpu), ==, ALD_FIT_YES);
}

static void test_size(void)
{
        AldOpenclTarget cpu = { .type = ALD_LISTED_DEVICE_TYPE_CPU,
                .listed.compute_units = 2,
                .listed.memory_total_bytes = 8 * GIB,
                .listed.unified = true };
        AldOpenclTarget gpu = { .type = ALD_LISTED_DEVICE_TYPE_GPU,
                .listed.compute_units = 132,
                .listed.memory_total_bytes = 140 * GIB };
        bool reduced = true;

        g_assert_cmpuint(ald_gemm_size(&cpu, 0, &reduced), ==, 1024);
        g_assert_false(reduced);
        cpu.listed.compute_units = 16;
        g_assert_cmpuint(ald_gemm_size(&cpu, 0, &reduced), ==, 2048);
        g_assert_cmpuint(ald_gemm_size(&gpu, 0, &reduced), ==, 8192);
        g_assert_false(reduced);
        gpu.listed.compute_units = 24;
        g_assert_cmpuint(ald_gemm_size(&gpu, 0, &reduced), ==, 4096);
        gpu.allocation_max = 20 << 20;
        g_assert_cmpuint(ald_gemm_size(&gpu, 0, &reduced), ==, 2048);
        g_assert_true(reduced);
        gpu.allocation_max = 0;
        g_assert_cmpuint(ald_gemm_size(&gpu, 2 * GIB, &reduced), ==, 4096);
        g_assert_false(reduced);
        g_assert_cmpuint(ald_gemm_size(&gpu, GIB, &reduced), ==, 2048);
        g_assert_true(reduced);
        gpu.listed.memory_total_bytes = GIB;
        g_assert_cmpuint(ald_gemm_size(&gpu, 0, &reduced), ==, 2048);
        g_assert_true(reduced);
        gpu.listed.memory_total_bytes = 1 << 20;
        g_assert_cmpuint(ald_gemm_size(&gpu, 0, &reduced), ==, 0);
        /* Nothing is known, so nothing is ruled out. */
        gpu.listed.memory_total_bytes = 0;
        g_assert_cmpuint(ald_gemm_size(&gpu, 0, &reduced), ==, 4096);
        g_assert_false(reduced);
}

static void test_peak(void)
{
        size_t n = 0;
        const AldPeakVariant *variants = ald_peak_variants(&n);

        for (size_t i = 0; i < n; i++) {
                g_assert_true(ald_peak_variant_find(variants[i].name) == &variants[i]);
                g_assert_cmpuint(variants[i].per_unit % variants[i].local, ==, 0);
                g_assert_cmpfloat(variants[i].operations, >, 0);
        }
        g_assert_null(ald_peak_variant_find("no-such"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-gemm-variants/table", test_table);
        g_test_add_func("/compute-gemm-variants/fit", test_fit);
        g_test_add_func("/compute-gemm-variants/size", test_size);
        g_test_add_func("/compute-gemm-variants/peak", test_peak);
        return g_test_run();
}
