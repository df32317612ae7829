/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "clients/common/quantity.h"
#include "record/field.h"

bool ald_quantity_parse(const char *text, const char *units, double step, const char *end, double *ret)
{
        char *rest;
        double value = g_ascii_strtod(text, &rest), factor = 1;
        const char *unit = *rest ? strchr(units, *rest) : NULL;

        if (rest == text || !isfinite(value) || value < 0)
                return false;
        for (const char *at = units; unit && at <= unit; at++)
                factor *= step;
        rest += unit ? 1 : 0;
        if (*rest && strcmp(rest, end) != 0)
                return false;
        *ret = value * factor;
        return true;
}

bool ald_quantity_parse_bytes(const char *text, uint64_t *ret)
{
        double value;

        if ((!ald_quantity_parse(text, "KMGT", 1024, "iB", &value) &&
                    !ald_quantity_parse(text, "KMGT", 1024, "B", &value)) ||
                value > (double) ALD_INTEGER_MAX)
                return false;
        *ret = (uint64_t) value;
        return true;
}
