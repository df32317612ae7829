/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clients/common/quantity.h"
#include "record/field.h"

static const AldQuantityUnit size_units[] = {
        { "B", 1 },
        { "K", 0x1p10 },
        { "KiB", 0x1p10 },
        { "kB", 1e3 },
        { "KB", 1e3 },
        { "M", 0x1p20 },
        { "MiB", 0x1p20 },
        { "MB", 1e6 },
        { "G", 0x1p30 },
        { "GiB", 0x1p30 },
        { "GB", 1e9 },
        { "T", 0x1p40 },
        { "TiB", 0x1p40 },
        { "TB", 1e12 },
        { NULL, 0 },
};

int ald_quantity_parse(const char *text, const AldQuantityUnit *units, double *ret)
{
        g_autofree char *digits = g_strndup(text, strspn(text, "0123456789."));
        const char *unit = text + strlen(digits);
        char *end;
        double value = g_ascii_strtod(digits, &end);

        if (end == digits || *end || !isfinite(value))
                return -EINVAL;
        unit += *unit == ' ' && unit[1];
        if (!*unit && value > 0)
                return -ENOTUNIQ;
        for (; *unit && units->name && strcmp(units->name, unit) != 0; units++)
                ;
        if (*unit && !units->name)
                return -EINVAL;
        *ret = *unit ? value * units->factor : 0;
        return 0;
}

int ald_size_parse(const char *text, uint64_t *ret)
{
        double value;
        int r = ald_quantity_parse(text, size_units, &value);

        if (r < 0)
                return r;
        if (value > (double) ALD_INTEGER_MAX)
                return -ERANGE;
        *ret = (uint64_t) value;
        return 0;
}

char *ald_size_problem(const char *text, int r)
{
        if (r == -ENOTUNIQ)
                return g_strdup_printf("without a unit: write %sGiB, or %sGB for powers of 1000", text, text);
        return g_strdup(r == -ERANGE ? "too large" : "not a size such as 64GiB or 64GB");
}
