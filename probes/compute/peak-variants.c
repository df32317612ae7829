/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/compute/kernels.h"
#include "probes/compute/peak.h"

/* Of kernels/peak.cl: all numbers are back where they began. */
static double expected(const AldPeakVariant *variant, unsigned index, unsigned iterations)
{
        double sum = 0;

        for (unsigned c = 0; c < variant->chains; c++)
                for (unsigned l = 0; l < variant->width; l++)
                        sum += (index + 3 * c + 7 * l) % 61;
        return sum;
}

static AldFit fit_cpu_16(const AldDevice *device)
{
        return device->type == ALD_DEVICE_CPU && device->float_width >= 16 ? ALD_FIT_YES : ALD_FIT_NO;
}

static AldFit fit_cpu_8(const AldDevice *device)
{
        return device->type == ALD_DEVICE_CPU && device->float_width != 4 ? ALD_FIT_YES : ALD_FIT_NO;
}

static AldFit fit_any(const AldDevice *device)
{
        return ALD_FIT_YES;
}

static AldFit fit_half(const AldDevice *device)
{
        return device->has_fp16 && device->type != ALD_DEVICE_CPU ? ALD_FIT_YES : ALD_FIT_NO;
}

/* Enough chains to hide the latency of a multiply-add, and not more than there are registers. */
#define GENERIC(of_width, of_chains)                                                      \
        .width = of_width, .chains = of_chains, .operations = 2.0 * of_width * of_chains, \
        .source = ald_kernel_peak, .expected = expected

static const AldPeakVariant variants[] = {
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
