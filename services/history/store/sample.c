/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "services/history/store/sample.h"

#define DIGITS 4
#define EXPONENT_MAX 22

/* Exact up to 10^22. */
static double power_of_ten(int exponent)
{
        double power = 1;

        while (exponent-- > 0)
                power *= 10;
        return power;
}

/* Both operands are exact, so that the result is the double that is nearest to the decimal number. */
double ald_sample_round(double value)
{
        double power;
        int below;

        if (!isfinite(value))
                return NAN;
        if (value == 0)
                return 0;
        below = DIGITS - 1 - (int) floor(log10(fabs(value)));
        if (abs(below) > EXPONENT_MAX)
                return below > 0 ? 0 : value;
        power = power_of_ten(abs(below));
        return below >= 0 ? round(value * power) / power : round(value / power) * power;
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
        const AldSample *one = a, *other = b;

        return (one->time > other->time) - (one->time < other->time);
}

void ald_samples_settle(GArray *samples)
{
        AldSample *sample = (AldSample *) (void *) samples->data;
        guint n = 0;

        /* A stable sort. */
        g_array_sort(samples, compare_times);
        for (guint i = 0; i < samples->len; i++) {
                if (n > 0 && sample[n - 1].time == sample[i].time)
                        n--;
                sample[n++] = sample[i];
        }
        g_array_set_size(samples, n);
}
