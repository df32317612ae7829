/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include <glib.h>

#include "services/history/past.h"

#define SHARE 0.1   /* of the median, by which a slow result falls below it */
#define SPREADS 3.0 /* by which a slow result falls below the median */
#define NORMAL 1.4826
/* With few results, the median distance is often much too small, so that noise would be found. */
#define FEW 20.0
#define JUDGED 2u /* the last results, which do not belong to their own past */

static int compare_doubles(const void *a, const void *b)
{
        const double one = *(const double *) a, other = *(const double *) b;

        return (one > other) - (one < other);
}

/* Sorts the values and returns their median; n > 0. */
static double median_of(double *values, size_t n)
{
        qsort(values, n, sizeof *values, compare_doubles);
        return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Returns the results that count: positive ones within 30 days before the last one. */
static GArray *select_results(const AldPastResult *results, size_t n)
{
        GArray *selected = g_array_new(FALSE, FALSE, sizeof(AldPastResult));

        for (size_t i = 0; i < n; i++)
                if (results[i].rate > 0 && isfinite(results[i].rate) &&
                        results[i].time >= results[n - 1].time - ALD_PAST_USEC)
                        g_array_append_val(selected, results[i]);
        return selected;
}

static void compute_limit(const AldPastResult *past, size_t n, AldPastVerdict *verdict)
{
        g_autofree double *values = g_new(double, n);

        for (size_t i = 0; i < n; i++)
                values[i] = past[i].rate;
        verdict->median = median_of(values, n);
        for (size_t i = 0; i < n; i++)
                values[i] = fabs(past[i].rate - verdict->median);
        verdict->spread = median_of(values, n) * NORMAL * (1 + FEW / (double) n);
        verdict->limit = verdict->median - MAX(SHARE * verdict->median, SPREADS * verdict->spread);
}

static int64_t find_beginning(const AldPastResult *results, size_t n, double limit)
{
        while (n > 1 && results[n - 2].rate < limit)
                n--;
        return results[n - 1].time;
}

AldPastVerdict ald_past_compare(const AldPastResult *results, size_t n)
{
        g_autoptr(GArray) selected = select_results(results, n);
        const AldPastResult *all = (const AldPastResult *) (const void *) selected->data;
        AldPastVerdict verdict = { 0 };
        const AldPastResult *last, *before;

        if (selected->len < ALD_PAST_RESULTS_MIN + JUDGED)
                return verdict;
        last = &all[selected->len - 1];
        before = last - 1;
        verdict.known = true;
        compute_limit(all, selected->len - JUDGED, &verdict);
        verdict.rate = last->rate;
        if (last->rate >= verdict.limit)
                return verdict;
        verdict.suspected = before->rate >= verdict.limit;
        verdict.slower = !verdict.suspected;
        if (verdict.slower) {
                verdict.rate = MAX(last->rate, before->rate);
                verdict.since = find_beginning(all, selected->len, verdict.limit);
        }
        return verdict;
}
