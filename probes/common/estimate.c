/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "probes/common/estimate.h"
#include "probes/common/statistics.h"

#define MSEC UINT64_C(1000000)
#define SEGMENT 1448.0      /* bytes in one, if segments are not counted */
#define FINE_NS (10 * MSEC) /* fine bins: a fifth of the usual width, so that stalls spoil fewer */
#define FINE_BYTES 40000.0  /* at least in a fine bin; with fewer, single packets show */
#define FINE_UNCERTAIN 20.0 /* width of fine bins, in multiples of the uncertainty of their ends */
#define FINE_IN_BATCH 5u    /* fine bins that are merged to compute the variance */
#define PIECES 98304.0      /* bytes: one and a half of the largest that the kernel hands on at once */
#define PIECE 65536.0       /* bytes that may arrive at once */
#define FAR_OFF 0.1         /* of the usual rate: beyond, the link was stalled or caught up */
#define FAST_SHARE 0.8      /* of FINE_BYTES in FINE_NS: then stalls of a busy machine cost throughput */
#define STEADY_SHARE 0.7    /* of the time that must be left without the bins that are far off */
#define BATCHES_MOST 8u     /* batches of bins, longer than the correlation of neighbours */
#define BATCHES_LEAST 4u
#define WARM_UP_BINS 8u
#define SPREAD_BINS 4u
#define INTERVAL_BINS 3u   /* needed to estimate the variance */
#define SEGMENT_LEAST 0.97 /* of a full one; with less, many were sent twice or were short */
#define SEGMENT_MOST 1.001 /* beyond, segments were merged before they were counted */
#define WARM_UP_GAIN 0.7   /* of the error of the mean; a smaller reduction is chance */
#define QUARTER 4u         /* of the time, in which a shaper has used up its savings at least once */
#define RESOLUTION 0.001   /* of the rate: clocks, and the overhead of the link layer */
#define SILENCE 4u         /* times the usual time between arrivals; longer is not chance */
#define SILENCE_NS (50 * MSEC)

/* A part of the time, in ns, and the bytes that arrived in it. */
typedef struct Bin {
        double amount, time;
        size_t begin; /* the point that it begins at */
} Bin;

/* Converts the counters of a point to bytes. */
typedef struct Scale {
        bool segments; /* from segments, which do not wait for those that were lost before them */
        double factor; /* bytes per unit of the counter */
        double doubt;  /* uncertainty of the factor, relative */
} Scale;

/* The bytes that had arrived by a point, counted in full segments, and how many of them are not in order. */
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
 * arrived twice stay counted. */
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
 * Returns the share of all bytes that arrived twice, or were missing in short segments. Such bytes never get
 * in order, so the number of bytes behind grows with them; bytes that wait for a lost segment to be sent
 * again come on top. The share is therefore the slope of the line that is as close to all points as a line
 * below them can be: the edge of the lower hull at the mean. If the edges at one and two thirds are steeper
 * or flatter, some bytes may have waited all that time; *ret_doubt is the difference.
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
 * Chooses the unit to count. After a loss, the bytes behind the lost segment wait to be in order, and then
 * count all at once. So segments are counted as they arrive, provided that all are full. Of those that arrive
 * twice, only one counts.
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

/* Fills bins from arrival to arrival, each at least this wide and with at least this amount, and returns
 * their number. */
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

/* Returns how long before a point its last bytes may have arrived, in ns. As many bytes are assumed to have
 * arrived before the first point as after it. */
static double uncertainty(const AldPoint *points, size_t i, const Scale *scale)
{
        size_t step = MAX(i, 1);
        double arrived = amount_at(&points[step], scale) - amount_at(&points[step - 1], scale);

        return (double) points[i].since * (arrived > PIECE ? PIECE / arrived : 1);
}

/* Returns a width of fine bins at which the uncertainty of their ends alone puts none of them far off. */
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
 * Drops the bins whose rate is far off, in place, and returns how many are left. Data that arrives in large
 * pieces fills the bins unevenly, which is tolerated.
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

/* Merges neighbours into batches, in place, and returns the number of batches. */
static size_t make_batches(Bin *bins, size_t n, size_t each)
{
        size_t batches = n / each;

        for (size_t i = 0; i < batches; i++)
                bins[i] = sum_of(bins + i * each, each);
        return batches;
}

/* Returns Student's t factor for 95 % and these degrees of freedom. */
static double student(size_t freedom)
{
        static const double factors[] = { 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23 };

        return freedom < G_N_ELEMENTS(factors) ? factors[freedom] : 1.96 + 2.7 / (double) freedom;
}

/* Returns half of the 95 % interval of the ratio of the sums, in bytes/ns; n >= INTERVAL_BINS. */
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
        /* Neighbours that deviate in the same direction are not independent evidence. A misplaced edge
         * between two bins is one error that affects both, in opposite directions. */
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
 * Returns how many bins at the beginning belong to an unusually long start-up, as after a slow start that
 * overshot and lost segments; at most half of all. Without them the error of the mean is smaller, although
 * fewer bins are left (the rule called MSER).
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

/* Returns whether the transfer had come to a stop, so that its time does not end with the last arrival. */
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
 * Returns the point of a part that is farthest ahead of a steady rate. There a shaper has used up all that it
 * had saved while there was nothing to send, so between two such points it passed exactly its rate, whatever
 * it had saved before.
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

/* Returns the first point at least this long after the first one, or the last point. */
static size_t find_time(const AldPoint *points, size_t n, double time)
{
        size_t i = 0;

        while (i + 1 < n && (double) (points[i].counters.when - points[0].counters.when) < time)
                i++;
        return i;
}

/* Returns the rate from a crest in the first quarter of the time to one in the last, with the time between
 * them; returns `rate` if they are the same point. */
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

/* Returns the most bytes that arrived between two successive points. */
static double largest_step(const AldPoint *points, size_t n, const Scale *scale)
{
        double most = 0;

        for (size_t i = 1; i < n; i++)
                most = MAX(most, amount_at(&points[i], scale) - amount_at(&points[i - 1], scale));
        return most;
}

/* Returns the mean rate without an unusually long start-up, and half of its 95 % interval. */
static double mean_without_warm_up(const AldPoint *points, size_t n, uint64_t end, const Scale *scale,
        Bin *bins, size_t n_bins, double *ret_half)
{
        size_t first = n_bins >= WARM_UP_BINS ? find_warm_up(bins, n_bins) : 0, begin = bins[first].begin;
        double time = transfer_time(points + begin, n - begin, end), whole = time, half;
        double rate = (amount_at(&points[n - 1], scale) - amount_at(&points[begin], scale)) / time;

        bins += first;
        n_bins -= first;
        half = interval_of(bins, n_bins);
        /* A rate may fluctuate over periods longer than bins, even longer than an eighth of the time. */
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
