/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "probes/common/estimate.h"
#include "probes/common/statistics.h"

#define MSEC UINT64_C(1000000)
#define SEGMENT 1448.0      /* bytes, where segments are not counted */
#define FINE_NS (10 * MSEC) /* bins of a fifth of the width, which fewer stalls touch */
#define FINE_BYTES 40000.0  /* in one, else single packets show */
#define FINE_UNCERTAIN 20.0 /* times that their ends are uncertain, at least */
#define FINE_IN_BATCH 5u    /* fine bins, for their variance */
#define PIECES 98304.0      /* bytes: one and a half of the largest that the kernel hands on at once */
#define PIECE 65536.0       /* bytes that may arrive at once */
#define FAR_OFF 0.1         /* of the usual rate: the link was kept waiting, or made up for it */
#define FAST_SHARE 0.8      /* of FINE_BYTES in FINE_NS: then stalls of a busy machine cost throughput */
#define STEADY_SHARE 0.7    /* of the time without those that are far off */
#define BATCHES_MOST 8u     /* of bins, so that they are longer than what makes neighbours alike */
#define BATCHES_LEAST 4u
#define WARM_UP_BINS 8u
#define SPREAD_BINS 4u
#define INTERVAL_BINS 3u   /* needed to estimate the variance */
#define SEGMENT_LEAST 0.97 /* of a full one: else many were sent twice, or were short */
#define SEGMENT_MOST 1.001 /* more were put together before they were counted */
#define WARM_UP_GAIN 0.7   /* of the error of the mean: less than that is chance */
#define QUARTER 4u         /* of the time, in which a shaper has spent for once all that it had saved */
#define RESOLUTION 0.001   /* of the rate: clocks, and what the link layer adds */
#define SILENCE 4u         /* times the usual time between arrivals is no chance */
#define SILENCE_NS (50 * MSEC)

/* A part of the time: bytes and ns. */
typedef struct Bin {
        double amount, time;
        size_t begin; /* the point that it begins at */
} Bin;

/* How much had arrived by a point, in bytes. */
typedef struct Scale {
        bool segments; /* counted by segments, which do not wait for those that were lost before them */
        double factor; /* bytes for each */
        double doubt;  /* of the factor, as a share */
} Scale;

/* How many bytes had arrived by a point, in full segments, and how many of them are not in order. */
typedef struct Backlog {
        double arrived, behind;
} Backlog;

static double slope_of(const Backlog *from, const Backlog *to)
{
        return (to->behind - from->behind) / (to->arrived - from->arrived);
}

/* Keeps only the corners of the lower convex hull, in place, and returns their number. */
static size_t keep_hull(Backlog *backlogs, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                while (kept > 0 && backlogs[kept - 1].arrived >= backlogs[i].arrived &&
                        backlogs[kept - 1].behind >= backlogs[i].behind)
                        kept--;
                if (kept > 0 && backlogs[kept - 1].arrived >= backlogs[i].arrived)
                        continue;
                while (kept > 1 && slope_of(&backlogs[kept - 2], &backlogs[kept - 1]) >=
                                           slope_of(&backlogs[kept - 1], &backlogs[i]))
                        kept--;
                backlogs[kept++] = backlogs[i];
        }
        return kept;
}

/* Returns the slope of the hull where this many bytes have arrived. It is never negative, since bytes that
 * came twice stay counted. */
static double slope_at(const Backlog *hull, size_t n, double arrived)
{
        size_t i = 1;

        if (n < 2)
                return 0;
        while (i + 1 < n && hull[i].arrived < arrived)
                i++;
        return MAX(slope_of(&hull[i - 1], &hull[i]), 0);
}

/*
 * The share of all bytes that came twice, or were missing in short segments. Such bytes never come to be in
 * order, so ever more of them are behind; on top of them is what waits for a lost segment that will be sent
 * again. So the share is the slope of the line that is as close to all points as a line below them can be:
 * the edge of the lower hull above the mean. Where the edges beside it are steeper or flatter, something may
 * have waited all that time.
 */
static double find_share_behind(const AldPoint *points, size_t n, double full, double *ret_doubt)
{
        const AldTransferCounters *first = &points[0].counters;
        g_autofree Backlog *backlogs = g_new(Backlog, n);
        double sum = 0, whole, share;
        size_t corners;

        for (size_t i = 0; i < n; i++) {
                double arrived = (double) (points[i].counters.segments - first->segments) * full;

                backlogs[i] = (Backlog){ arrived,
                        arrived - (double) (points[i].counters.bytes - first->bytes) };
                sum += arrived;
        }
        whole = backlogs[n - 1].arrived;
        corners = keep_hull(backlogs, n);
        share = slope_at(backlogs, corners, sum / (double) n);
        *ret_doubt = MAX(fabs(slope_at(backlogs, corners, whole / 3) - share),
                fabs(slope_at(backlogs, corners, whole * 2 / 3) - share));
        return share;
}

/*
 * Where a segment was lost, those behind it wait to be in order, and then count all at once; so segments
 * count as they arrive, where all of them are full. Of those that came twice one counts.
 */
static Scale find_scale(const AldPoint *points, size_t n, double segment)
{
        const AldTransferCounters *first = &points[0].counters, *last = &points[n - 1].counters;
        double full = (double) last->segment, share, doubt;

        if (full <= 0 || last->segments <= first->segments || segment < full * SEGMENT_LEAST ||
                segment > full * SEGMENT_MOST)
                return (Scale){ false, 1, 0 };
        share = find_share_behind(points, n, full, &doubt);
        return share > 1 - SEGMENT_LEAST ? (Scale){ false, 1, 0 }
                                         : (Scale){ true, full * (1 - share), doubt };
}

static double amount_at(const AldPoint *point, const Scale *scale)
{
        return (double) (scale->segments ? point->counters.segments : point->counters.bytes) * scale->factor;
}

/* Fills bins from arrival to arrival, each at least that long and that large, and returns their number. */
static size_t make_bins(
        const AldPoint *points, size_t n, const Scale *scale, uint64_t width, double amount, Bin *ret)
{
        size_t begin = 0, bins = 0;

        for (size_t i = 1; i < n; i++) {
                uint64_t time = points[i].counters.when - points[begin].counters.when;
                double arrived = amount_at(&points[i], scale) - amount_at(&points[begin], scale);

                if (time < width || arrived < amount)
                        continue;
                ret[bins++] = (Bin){ arrived, (double) time, begin };
                begin = i;
        }
        return bins;
}

/* How long before a point the last of it may have arrived, ns. Before the first there was as much as after.
 */
static double uncertainty(const AldPoint *points, size_t i, const Scale *scale)
{
        size_t step = MAX(i, 1);
        double arrived = amount_at(&points[step], scale) - amount_at(&points[step - 1], scale);

        return (double) points[i].since * (arrived > PIECE ? PIECE / arrived : 1);
}

/* The width of fine bins: so long that not knowing when exactly they begin and end makes none far off. */
static uint64_t fine_width(const AldPoint *points, size_t n, const Scale *scale)
{
        double sum = 0;

        for (size_t i = 1; i < n; i++)
                sum += uncertainty(points, i, scale);
        return (uint64_t) CLAMP(FINE_UNCERTAIN * sum / (double) (n - 1), FINE_NS, ALD_ESTIMATE_BIN_NS);
}

static Bin sum_of(const Bin *bins, size_t n)
{
        Bin sum = {};

        for (size_t i = 0; i < n; i++) {
                sum.amount += bins[i].amount;
                sum.time += bins[i].time;
        }
        return sum;
}

static double usual_rate(const Bin *bins, size_t n)
{
        g_autofree double *rates = g_new(double, n);

        for (size_t i = 0; i < n; i++)
                rates[i] = bins[i].amount / bins[i].time;
        (void) ald_interquartile_mean(rates, n);
        return rates[n / 2];
}

/*
 * Drops the bins that are far off, in place, and returns how many are left. What comes in large pieces falls
 * into bins unevenly, and that is not far.
 */
static size_t drop_unsteady_bins(Bin *bins, size_t n)
{
        double usual = usual_rate(bins, n);
        size_t kept = 0;

        for (size_t i = 0; i < n; i++)
                if (fabs(bins[i].amount / bins[i].time - usual) <=
                        MIN(PIECES / bins[i].time, usual * FAR_OFF))
                        bins[kept++] = bins[i];
        return kept;
}

/* Puts neighbours together, in place, and returns how many there are then. */
static size_t make_batches(Bin *bins, size_t n, size_t each)
{
        size_t batches = n / each;

        for (size_t i = 0; i < batches; i++)
                bins[i] = sum_of(bins + i * each, each);
        return batches;
}

/* Student's t factor for 95 %, by degrees of freedom. */
static double student(size_t freedom)
{
        static const double factors[] = { 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23 };

        return freedom < G_N_ELEMENTS(factors) ? factors[freedom] : 1.96 + 2.7 / (double) freedom;
}

/* Half of the 95 % interval of the quotient of sums, bytes/ns; n >= INTERVAL_BINS. */
static double interval_of(const Bin *bins, size_t n)
{
        Bin sum = sum_of(bins, n);
        double rate = sum.amount / sum.time, squares = 0, products = 0, before = 0, alike;

        for (size_t i = 0; i < n; i++) {
                double off = bins[i].amount - rate * bins[i].time;

                squares += off * off;
                products += off * before;
                before = off;
        }
        /* Neighbours that are off in the same way are no independent evidence; an edge between two that is
         * off is one error for both, in opposite ways. */
        alike = squares > 0 ? CLAMP(products / squares, -0.5, 0.8) : 0;
        return student(n - 1) * sqrt(squares * (double) n / (double) (n - 1) * (1 + alike) / (1 - alike)) /
               sum.time;
}

static AldOptional spread_of(const Bin *bins, size_t n)
{
        Bin sum = sum_of(bins, n);
        double mean = n > 0 ? sum.amount / sum.time : 0, squares = 0;

        if (n < SPREAD_BINS || mean <= 0)
                return (AldOptional){};
        for (size_t i = 0; i < n; i++)
                squares += pow(bins[i].amount / bins[i].time - mean, 2);
        return (AldOptional){ true, (uint64_t) (sqrt(squares / (double) (n - 1)) / mean * 1e6) };
}

/*
 * How many bins at the beginning belong to a start-up that is longer than others, as after a slow start that
 * went too far where segments get lost: without them the mean is known better, though from fewer (the rule
 * called MSER). At most half of them.
 */
static size_t find_warm_up(const Bin *bins, size_t n)
{
        double whole = 0, least = 0;
        size_t ret = 0;

        for (size_t first = 0; first <= n / 2; first++) {
                Bin sum = sum_of(bins + first, n - first);
                double squares = 0, error;

                for (size_t i = first; i < n; i++)
                        squares += pow(bins[i].amount - sum.amount / sum.time * bins[i].time, 2);
                error = sqrt(squares) / sum.time;
                if (first == 0)
                        whole = least = error;
                if (error < least) {
                        least = error;
                        ret = first;
                }
        }
        return least < whole * WARM_UP_GAIN ? ret : 0;
}

/* What comes to a stop does not end with its last arrival. */
static bool is_silent(const AldPoint *points, size_t n, uint64_t end)
{
        uint64_t time = points[n - 1].counters.when - points[0].counters.when;

        return end > points[n - 1].counters.when + SILENCE_NS + SILENCE * time / (n - 1);
}

static double transfer_time(const AldPoint *points, size_t n, uint64_t end)
{
        return (double) ((is_silent(points, n, end) ? end : points[n - 1].counters.when) -
                         points[0].counters.when);
}

/*
 * Of the points of a part, the one by which most had arrived, compared with a steady rate. There a shaper has
 * spent all that it had saved while there was nothing to send, so between two of them it passed what its rate
 * is, whatever it had saved before.
 */
static size_t find_crest(const AldPoint *points, size_t begin, size_t end, const Scale *scale, double rate)
{
        double most = 0;
        size_t ret = begin;

        for (size_t i = begin; i < end; i++) {
                double ahead = amount_at(&points[i], scale) - amount_at(&points[begin], scale) -
                               rate * (double) (points[i].counters.when - points[begin].counters.when);

                if (ahead > most) {
                        most = ahead;
                        ret = i;
                }
        }
        return ret;
}

/* The time from the first point of all that is not before this. */
static size_t find_time(const AldPoint *points, size_t n, double time)
{
        size_t i = 0;

        while (i + 1 < n && (double) (points[i].counters.when - points[0].counters.when) < time)
                i++;
        return i;
}

/* The rate from a crest in the first quarter of the time to one in the last; the time between them. */
static double rate_between_crests(
        const AldPoint *points, size_t n, const Scale *scale, double rate, double *ret_time)
{
        double whole = (double) (points[n - 1].counters.when - points[0].counters.when);
        size_t early = find_time(points, n, whole / QUARTER);
        size_t late = find_time(points, n, whole * (QUARTER - 1) / QUARTER);
        size_t a = find_crest(points, 0, early + 1, scale, rate),
               b = find_crest(points, late, n, scale, rate);

        if (a >= b)
                return rate;
        *ret_time = (double) (points[b].counters.when - points[a].counters.when);
        return (amount_at(&points[b], scale) - amount_at(&points[a], scale)) / *ret_time;
}

/* The most that arrived between two points. */
static double largest_step(const AldPoint *points, size_t n, const Scale *scale)
{
        double most = 0;

        for (size_t i = 1; i < n; i++)
                most = MAX(most, amount_at(&points[i], scale) - amount_at(&points[i - 1], scale));
        return most;
}

/* The mean of all the time but a long start-up, and half of its interval. */
static double mean_without_warm_up(const AldPoint *points, size_t n, uint64_t end, const Scale *scale,
        Bin *bins, size_t n_bins, double *ret_half)
{
        size_t first = n_bins >= WARM_UP_BINS ? find_warm_up(bins, n_bins) : 0, begin = bins[first].begin;
        double time = transfer_time(points + begin, n - begin, end), whole = time, half;
        double rate = (amount_at(&points[n - 1], scale) - amount_at(&points[begin], scale)) / time;

        bins += first;
        n_bins -= first;
        half = interval_of(bins, n_bins);
        /* The ups and downs of a rate may be longer than bins, and than an eighth of the time. */
        for (size_t batches = BATCHES_MOST; batches >= BATCHES_LEAST; batches /= 2) {
                n_bins = make_batches(bins, n_bins, MAX(n_bins / batches, 1));
                half = MAX(half, interval_of(bins, n_bins));
        }
        if (!is_silent(points + begin, n - begin, end))
                rate = rate_between_crests(points + begin, n - begin, scale, rate, &time);
        /* A shorter time is weaker evidence. */
        *ret_half = half * sqrt(whole / time);
        return rate;
}

AldEstimate ald_estimate(const AldPoint *points, size_t n, uint64_t end, double segment, bool lossy)
{
        g_autofree Bin *bins = NULL, *fine = NULL;
        AldEstimate ret = {};
        size_t n_fine, n_kept;
        double time, half, ends;
        Scale scale;
        Bin kept;

        if (n < 2)
                return ret;
        scale = find_scale(points, n, segment);
        time = transfer_time(points, n, end);
        ret.rate = ret.mean = (amount_at(&points[n - 1], &scale) - amount_at(&points[0], &scale)) / time;
        if (ret.rate <= 0)
                return (AldEstimate){};
        bins = g_new(Bin, n);
        fine = g_new(Bin, n);
        ret.bins = (unsigned) make_bins(points, n, &scale, ALD_ESTIMATE_BIN_NS,
                ALD_ESTIMATE_BIN_SEGMENTS * (segment > 0 ? MIN(segment, SEGMENT) : SEGMENT), bins);
        ret.spread = spread_of(bins, ret.bins);
        n_fine = make_bins(points, n, &scale, fine_width(points, n, &scale), FINE_BYTES, fine);
        n_kept = n_fine > 0 ? drop_unsteady_bins(fine, n_fine) : 0;
        kept = sum_of(fine, n_kept);
        if (ret.bins < INTERVAL_BINS) {
                half = largest_step(points, n, &scale) / time;
        } else if (!lossy && n_kept >= INTERVAL_BINS * FINE_IN_BATCH && kept.time >= time * STEADY_SHARE &&
                   kept.amount * FINE_NS >= kept.time * FINE_BYTES * FAST_SHARE) {
                ret.rate = kept.amount / kept.time;
                half = interval_of(fine, make_batches(fine, n_kept, FINE_IN_BATCH));
        } else {
                ret.rate = mean_without_warm_up(points, n, end, &scale, bins, ret.bins, &half);
        }
        ends = MAX(uncertainty(points, 0, &scale), uncertainty(points, n - 1, &scale));
        half = hypot(hypot(half, ret.rate * ends / time), ret.rate * scale.doubt);
        ret.interval = MIN(half + ret.rate * RESOLUTION, ret.rate);
        return ret;
}
