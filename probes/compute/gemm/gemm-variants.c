/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/compute/gemm/gemm.h"
#include "probes/compute/gemm/vendors.h"
#include "probes/compute/kernels.h"
#include "probes/compute/memory/buffer-size.h"

/* Vectors wider than those of the processor are split, and no longer fit its registers. Some implementations
 * do not report the width, and return 0 or 1. */
static AldFit fit_width(const AldOpenclTarget *device, unsigned width)
{
        bool known = device->float_width > 1;

        return device->type == ALD_LISTED_DEVICE_TYPE_CPU && (!known || device->float_width >= width)
                       ? ALD_FIT_YES
                       : ALD_FIT_NO;
}

static AldFit fit_cpu_16(const AldOpenclTarget *device)
{
        return fit_width(device, 16);
}

static AldFit fit_cpu_8(const AldOpenclTarget *device)
{
        return fit_width(device, 8);
}

static AldFit fit_cpu_4(const AldOpenclTarget *device)
{
        return device->float_width >= 8 ? ALD_FIT_NO : fit_width(device, 1);
}

/* On a processor, such a kernel is slow but correct. */
static AldFit fit_any(const AldOpenclTarget *device)
{
        return device->type == ALD_LISTED_DEVICE_TYPE_CPU ? ALD_FIT_LAST_RESORT : ALD_FIT_YES;
}

static AldFit fit_half(const AldOpenclTarget *device)
{
        return device->has_fp16 ? fit_any(device) : ALD_FIT_NO;
}

/*
 * Panels of whole columns of B (a depth of 1024) need a large second level cache; 256 rows fit a small one.
 * Blocks are as narrow as possible without loss, since PoCL gives a thread at least 32 of them at once.
 */
#define CPU(of_name, columns, rows, width, depth, of_tile_rows, of_fit)                                  \
        {                                                                                                \
                .name = of_name, .precision = "fp32", .accumulator = "fp32", .fit = of_fit,              \
                .element = ALD_ELEMENT_FP32, .multiple = columns, .source = ald_kernel_gemm_cpu,         \
                .options = "-DWIDTH=" #width " -DDEPTH=" #depth, .tile_columns = 32,                     \
                .tile_rows = of_tile_rows, .local_columns = 1, .local_rows = 1, .pack_columns = columns, \
                .pack_rows = rows                                                                        \
        }

#define TILED                                                                                    \
        .multiple = 128, .source = ald_kernel_gemm_tiled, .tile_columns = 128, .tile_rows = 128, \
        .local_columns = 16, .local_rows = 16

/* The arguments are the columns and rows of a tile, the wider of which counts, and the work-items that
 * compute it. */
#define MATRIX_UNITS(columns, rows, items)                                                              \
        .precision = "fp16", .accumulator = "fp32", .fp16_hardware = true, .element = ALD_ELEMENT_FP16, \
        .b_transposed = true, .multiple = columns, .tile_columns = columns, .tile_rows = rows,          \
        .local_columns = items, .local_rows = 1

static const AldGemmVariant variants[] = {
        CPU("cpu-8x32", 32, 8, 16, 1024, 128, fit_cpu_16),
        CPU("cpu-8x32-shallow", 32, 8, 16, 256, 128, fit_cpu_16),
        CPU("cpu-6x16", 16, 6, 8, 1024, 126, fit_cpu_8),
        CPU("cpu-6x16-shallow", 16, 6, 8, 256, 126, fit_cpu_8),
        CPU("cpu-8x8", 16, 8, 4, 256, 128, fit_cpu_4),
        { .name = "nvidia-wgmma",
                .fit = ald_nvidia_fit_wgmma,
                .peak = "peak-wgmma",
                .source = ald_kernel_gemm_wgmma,
                .build = ald_nvidia_build_wgmma,
                .tiled = true,
                .resident = true,
                MATRIX_UNITS(256, 128, 256) },
        { .name = "nvidia-mma",
                .fit = ald_nvidia_fit_mma,
                .source = ald_kernel_gemm_mma,
                .build = ald_nvidia_build_mma,
                MATRIX_UNITS(128, 128, 128) },
        { .name = "nvidia-wmma",
                .fit = ald_nvidia_fit_wmma,
                .source = ald_kernel_gemm_waves,
                .build = ald_nvidia_build_wmma,
                MATRIX_UNITS(128, 128, 256) },
        { .name = "amd-mfma",
                .fit = ald_amd_fit_mfma,
                .source = ald_kernel_gemm_waves,
                .build = ald_amd_build,
                MATRIX_UNITS(128, 128, 256) },
        { .name = "amd-wmma",
                .fit = ald_amd_fit_wmma,
                .source = ald_kernel_gemm_waves,
                .build = ald_amd_build,
                MATRIX_UNITS(128, 128, 256) },
        { .name = "intel-dpas-16",
                .fit = ald_intel_fit_matrix,
                .source = ald_kernel_gemm_intel,
                .options = "-cl-std=CL2.0 -cl-intel-256-GRF-per-thread -DSUBGROUP=16",
                MATRIX_UNITS(128, 128, 128) },
        { .name = "intel-dpas-8",
                .fit = ald_intel_fit_matrix,
                .source = ald_kernel_gemm_intel,
                .options = "-cl-std=CL2.0 -cl-intel-256-GRF-per-thread -DSUBGROUP=8",
                MATRIX_UNITS(128, 128, 128) },
        { .name = "tiled-half",
                .precision = "fp16",
                .accumulator = "fp16",
                .fp16_hardware = true,
                .fp16_sums = true,
                .fit = fit_half,
                .element = ALD_ELEMENT_FP16,
                .options = "-DFP16 -DHALF",
                TILED },
        { .name = "tiled-fp16",
                .precision = "fp16",
                .accumulator = "fp32",
                .fit = fit_any,
                .element = ALD_ELEMENT_FP16,
                .options = "-DFP16",
                TILED },
        { .name = "tiled-fp32",
                .precision = "fp32",
                .accumulator = "fp32",
                .fit = fit_any,
                .element = ALD_ELEMENT_FP32,
                TILED },
};

const AldGemmVariants ald_gemm_variants = { variants, G_N_ELEMENTS(variants) };

const AldGemmVariant *ald_gemm_variant_find(const AldGemmVariants *among, const char *name)
{
        for (size_t i = 0; i < among->n; i++)
                if (strcmp(among->variants[i].name, name) == 0)
                        return &among->variants[i];
        return NULL;
}

/* Returns the size for a launch of some milliseconds, with several tiles for each part of the device. */
static unsigned wanted_size(const AldOpenclTarget *device)
{
        if (device->type == ALD_LISTED_DEVICE_TYPE_CPU)
                return device->listed.compute_units <= 4    ? 1024
                       : device->listed.compute_units <= 16 ? 2048
                                                            : 4096;
        if (device->listed.unified)
                return device->listed.compute_units < 16 ? 2048 : 4096;
        return device->listed.compute_units < 64 ? 4096 : 8192;
}

/* Returns whether there is enough memory for n. Operands of all kinds, panels and the product together are
 * smaller than six buffers of fp32. */
static bool size_fits(const AldOpenclTarget *device, uint64_t available, unsigned n)
{
        uint64_t most = ald_buffers_most(device, available);
        uint64_t buffer = (uint64_t) n * (n + ALD_GEMM_ROWS_OVER) * sizeof(float);

        return (device->allocation_max == 0 || buffer <= device->allocation_max) &&
               (most == 0 || 6 * buffer <= most);
}

unsigned ald_gemm_size(const AldOpenclTarget *device, uint64_t available, bool *ret_reduced)
{
        unsigned wanted = wanted_size(device), n = wanted;

        while (n >= ALD_GEMM_N_MIN && !size_fits(device, available, n))
                n /= 2;
        *ret_reduced = n < wanted;
        return n >= ALD_GEMM_N_MIN ? n : 0;
}
