/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/units.h"
#include "record/translate.h"

/* Rounding must not end in a fourth digit. */
#define FULL(step) ((step) -0.5)

static char *scaled(double value, double step, const char *const *units)
{
        for (; units[1] && value >= FULL(step); units++)
                value /= step;
        if (value >= 99.95)
                return g_strdup_printf("%.0f %s", value, *units);
        return g_strdup_printf("%.3g %s", value, *units);
}

char *ald_units_rate(uint64_t bits_per_second)
{
        static const char *const units[] = { "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", NULL };

        return scaled((double) bits_per_second, 1000, units);
}

char *ald_units_transfers(uint64_t per_second)
{
        static const char *const units[] = { "T/s", "kT/s", "MT/s", "GT/s", "TT/s", NULL };

        return scaled((double) per_second, 1000, units);
}

char *ald_units_bytes(uint64_t bytes)
{
        static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", NULL };

        return scaled((double) bytes, 1024, units);
}

char *ald_units_duration(uint64_t usec)
{
        uint64_t seconds = usec / G_USEC_PER_SEC;
        unsigned long days = (unsigned long) (seconds / (24 * 3600));

        if (seconds < 120)
                return g_strdup_printf("%" G_GUINT64_FORMAT " s", seconds);
        if (seconds < 2 * 3600)
                return g_strdup_printf("%" G_GUINT64_FORMAT " min", seconds / 60);
        if (seconds < 48 * 3600)
                return g_strdup_printf("%" G_GUINT64_FORMAT " h", seconds / 3600);
        return g_strdup_printf(ngettext("%lu day", "%lu days", days), days);
}

char *ald_units_tflops(double tflops)
{
        return g_strdup_printf(tflops < 999.5 ? "%.3g TFLOPS" : "%.0f TFLOPS", tflops);
}
