/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/export/memory-share.h"

#define USUAL_OF_TOTAL 0.9 /* the default of vLLM, or a little less than that of new versions */
#define DIGITS_MAX 6

static double to_double(uint64_t value)
{
        return value == ALD_ABSENT_UINT64 ? NAN : (double) value;
}

/* Rounds a share to as few digits as change it by no more than this difference. */
static double shorten_share(double share, double difference)
{
        double scale = 10;

        for (int i = 1; i < DIGITS_MAX; i++, scale *= 10) {
                double rounded = round(share * scale) / scale;

                if (fabs(rounded - share) <= difference)
                        return rounded;
        }
        return floor(share * scale) / scale;
}

/* Chooses the usual share if possible, else the middle, which leaves some room on either side: less may be
 * free, or more needed, than was planned. */
static double choose_share(double least, double most, double usual)
{
        if (isnan(least) || isnan(most) || least > most || most <= 0)
                return NAN;
        if (usual >= least && usual <= most)
                return usual;
        least = fmax(least, 0);
        return shorten_share((least + most) / 2, (most - least) / 8);
}

/* In contrast to fmax() and fmin(), these return NAN if either argument is NAN. */
static double larger(double a, double b)
{
        return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

static double smaller(double a, double b)
{
        return -larger(-a, -b);
}

/* Chooses a share of an unknown total, for limits that were computed with the least possible total. The
 * larger the total is, the smaller are the share that suffices and the share that is free. */
static double choose_for_guess(double least, double most)
{
        if (isnan(least) || isnan(most) || least > most)
                return NAN;
        return shorten_share(least + (most - least) / 4, (most - least) / 8);
}

static bool is_guessed(const AldPlanStageRow *stage)
{
        return stage->total_bytes == ALD_ABSENT_UINT64 && ald_export_vendor_is(stage, "NVIDIA");
}

bool ald_export_is_total_guessed(const AldPlanStageRow *stages, guint n)
{
        for (guint i = 0; i < n; i++)
                if (is_guessed(&stages[i]))
                        return true;
        return false;
}

double ald_export_share_of_total(const AldPlanStageRow *stages, guint n)
{
        double least = 0, most = 1;

        for (guint i = 0; i < n; i++) {
                double total = to_double(
                        is_guessed(&stages[i]) ? stages[i].free_bytes : stages[i].total_bytes);
                double reserved = to_double(stages[i].reserved_bytes);

                least = larger(least, (to_double(stages[i].needs_bytes) - reserved) / total);
                most = smaller(most, (to_double(stages[i].free_bytes) - reserved) / total);
        }
        return ald_export_is_total_guessed(stages, n) ? choose_for_guess(least, most)
                                                      : choose_share(least, most, USUAL_OF_TOTAL);
}

double ald_export_share_of_free(const AldPlanStageRow *stages, guint n)
{
        double before = INFINITY, after = INFINITY, kv = 0, buffers = 0;

        for (guint i = 0; i < n; i++) {
                double room = to_double(stages[i].free_bytes) - to_double(stages[i].reserved_bytes);

                before = smaller(before, room);
                after = smaller(after, room - to_double(stages[i].weight_bytes));
                kv = larger(kv, to_double(stages[i].kv_bytes));
                buffers = larger(buffers, to_double(stages[i].buffer_bytes));
        }
        /* The share is 1 minus the part of the memory free before loading that is to stay free; the rest of
         * what is left after loading is for keys and values. */
        return before > 0 ? choose_share(1 - (after - kv) / before, 1 - buffers / before, NAN) : NAN;
}
