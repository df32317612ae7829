/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "services/history/store/sample.h"

#define STEPS 400
#define EXPONENT_MAX 18

/* Returns 10^exponent, exact up to 10^22. */
static double power_of_ten(int exponent)
{
        double power = 1;

        while (exponent-- > 0)
                power *= 10;
        return power;
}

/* Rounds to a multiple of count * 10^exponent. The operands of the last step are exact, so the result is the
 * double nearest to the decimal number. */
static double round_to(double value, double count, int exponent)
{
        const double power = power_of_ten(abs(exponent));

        return exponent < 0 ? round(value * power / count) * count / power
                            : round(value / power / count) * count * power;
}

double ald_sample_round(double value, double precision)
{
        const double most = MAX(fabs(value) / STEPS, 2 * precision);
        double mantissa, rounded;
        int exponent;

        if (!isfinite(value))
                return NAN;
        if (value == 0 || most < 1e-17)
                return 0;
        exponent = (int) floor(log10(most));
        if (exponent > EXPONENT_MAX)
                return value;
        /* Just below a power of ten, the logarithm may be rounded up to it. */
        mantissa = most / pow(10, exponent) * (1 + 1e-12);
        rounded = round_to(value, mantissa >= 5 ? 5 : mantissa >= 2 ? 2 : 1, exponent);
        return rounded == 0 ? 0 : rounded;
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

        /* The sort is stable. */
        g_array_sort(samples, compare_times);
        for (guint i = 0; i < samples->len; i++) {
                if (n > 0 && sample[n - 1].time == sample[i].time)
                        n--;
                sample[n++] = sample[i];
        }
        g_array_set_size(samples, n);
}
