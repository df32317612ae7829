/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/compute/gemm/vendors.h"
#include "probes/compute/kernels.h"
#include "probes/compute/peak/peak.h"

/* Returns the sum of the initial numbers, which every two iterations restore (kernels/peak.cl). */
static double expected_sum(const AldPeakVariant *variant, unsigned index)
{
        double sum = 0;

        for (unsigned c = 0; c < variant->chains; c++)
                for (unsigned l = 0; l < variant->width; l++)
                        sum += (index + 3 * c + 7 * l) % 61;
        return sum;
}

/* Returns the sum for kernels/peak-wgmma.cl, where all chains add to the same product. */
static double expected_sum_of_one(const AldPeakVariant *variant, unsigned index)
{
        const AldPeakVariant one = { .width = variant->width, .chains = 1 };

        return expected_sum(&one, index);
}

static AldFit fit_cpu_16(const AldOpenclTarget *device)
{
        return device->type == ALD_LISTED_DEVICE_TYPE_CPU && device->float_width >= 16 ? ALD_FIT_YES
                                                                                       : ALD_FIT_NO;
}

static AldFit fit_cpu_8(const AldOpenclTarget *device)
{
        return device->type == ALD_LISTED_DEVICE_TYPE_CPU && device->float_width != 4 ? ALD_FIT_YES
                                                                                      : ALD_FIT_NO;
}

static AldFit fit_any(const AldOpenclTarget *device)
{
        return ALD_FIT_YES;
}

static AldFit fit_half(const AldOpenclTarget *device)
{
        return device->has_fp16 && device->type != ALD_LISTED_DEVICE_TYPE_CPU ? ALD_FIT_YES : ALD_FIT_NO;
}

/* There are enough chains to hide the latency of a multiply-add, and not more than fit the registers. */
#define GENERIC(of_width, of_chains)                                                      \
        .width = of_width, .chains = of_chains, .operations = 2.0 * of_width * of_chains, \
        .source = ald_kernel_peak, .expected = expected_sum

/* For matrix units: the elements of a chain, the chains, and the operations per chain and iteration of a
 * work-item. */
#define MATRIX_UNITS(of_source, of_width, of_chains, of_operations)                                        \
        .precision = "fp16", .accumulator = "fp32", .fp16_hardware = true, .local = 256, .per_unit = 2048, \
        .source = of_source, .width = of_width, .chains = of_chains,                                       \
        .operations = (double) (of_operations) *of_chains

static const AldPeakVariant variants[] = {
        { .name = "peak-wgmma",
                .fit = ald_nvidia_fit_wgmma,
                .build = ald_nvidia_build_wgmma,
                .expected = expected_sum_of_one,
                MATRIX_UNITS(ald_kernel_peak_wgmma, 128, 8, 4096) },
        { .name = "peak-mma",
                .fit = ald_nvidia_fit_mma,
                .build = ald_nvidia_build_mma,
                .expected = expected_sum,
                MATRIX_UNITS(ald_kernel_peak_mma, 4, 8, 128) },
        { .name = "peak-wmma",
                .fit = ald_nvidia_fit_wmma,
                .build = ald_nvidia_build_wmma,
                .expected = expected_sum,
                MATRIX_UNITS(ald_kernel_peak_waves, 8, 4, 256) },
        { .name = "peak-mfma",
                .fit = ald_amd_fit_mfma,
                .build = ald_amd_build,
                .expected = expected_sum,
                MATRIX_UNITS(ald_kernel_peak_waves, 16, 4, 256) },
        { .name = "peak-amd-wmma",
                .fit = ald_amd_fit_wmma,
                .build = ald_amd_build,
                .expected = expected_sum,
                MATRIX_UNITS(ald_kernel_peak_waves, 8, 4, 256) },
        { .name = "peak-dpas-16",
                .fit = ald_intel_fit_matrix,
                .options = "-cl-std=CL2.0 -DSUBGROUP=16",
                .expected = expected_sum,
                MATRIX_UNITS(ald_kernel_peak_intel, 8, 4, 256) },
        { .name = "peak-dpas-8",
                .fit = ald_intel_fit_matrix,
                .options = "-cl-std=CL2.0 -DSUBGROUP=8",
                .expected = expected_sum,
                MATRIX_UNITS(ald_kernel_peak_intel, 8, 4, 256) },
        { .name = "peak-half",
                .precision = "fp16",
                .accumulator = "fp16",
                .fp16_hardware = true,
                .fit = fit_half,
                .options = "-DTYPE=half -DHALF",
                .local = 256,
                .per_unit = 2048,
                GENERIC(8, 4) },
        { .name = "peak-fp32-wide",
                .precision = "fp32",
                .accumulator = "fp32",
                .fit = fit_cpu_16,
                .options = "-DTYPE=float",
                .local = 1,
                .per_unit = 16,
                GENERIC(16, 12) },
        { .name = "peak-fp32-middle",
                .precision = "fp32",
                .accumulator = "fp32",
                .fit = fit_cpu_8,
                .options = "-DTYPE=float",
                .local = 1,
                .per_unit = 16,
                GENERIC(8, 12) },
        { .name = "peak-fp32",
                .precision = "fp32",
                .accumulator = "fp32",
                .fit = fit_any,
                .options = "-DTYPE=float",
                .local = 64,
                .per_unit = 2048,
                GENERIC(4, 8) },
};

const AldPeakVariant *ald_peak_variants(size_t *ret_n)
{
        *ret_n = G_N_ELEMENTS(variants);
        return variants;
}

const AldPeakVariant *ald_peak_variant_find(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(variants); i++)
                if (strcmp(variants[i].name, name) == 0)
                        return &variants[i];
        return NULL;
}
