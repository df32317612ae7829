/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* Judges how reliable the figures of a link are. */

#define ALD_LINK_DISTURBED "disturbed"
#define ALD_LINK_UNSTEADY "unsteady"
#define ALD_LINK_SUSPECT "suspect"

/* The prefix of Failure if only one direction was measured; the reason follows. */
#define ALD_LINK_PARTIAL "partial: "

/* Returns whether the flags of a record have this one; they may be NULL. */
bool ald_link_has_flag(const char *const *flags, const char *flag);

/*
 * Decides whether other traffic distorted a rate. Such traffic shares the path with the probe, so it may have
 * reduced the rate by as much as it carried; an effect within the interval (percent, may be absent) is not
 * visible. The limit is at least 2 %, since protocols send that much in any case and a measurement does not
 * resolve less, and at most 10 %, since traffic that begins during the measurement widens the interval
 * itself.
 */
#define ALD_LINK_DISTURBED_PERCENT_LEAST 2.0
#define ALD_LINK_DISTURBED_PERCENT_MOST 10.0

bool ald_link_rate_is_disturbed(uint64_t rate, double interval, uint64_t other);

/* Returns the greater of the other traffic in the directions that it disturbed; absent if it disturbed none.
 * A spot check is compared with its own rates. */
uint64_t ald_link_disturbance(const AldLinkSocket *link);

/* A link is unsteady if an interval or a spread exceeds these, in percent; absent values do not count.
 * Congestion control and jitter alone spread a rate by up to 35 %, although its mean is reproducible within a
 * percent. */
#define ALD_LINK_UNSTEADY_PERCENT 25.0
#define ALD_LINK_UNSTEADY_SPREAD_PERCENT 50.0

bool ald_link_percent_is_unsteady(double interval, double spread);

/* A rate is suspect if it is far below that of the burst in the same measurement: the link carried more
 * shortly before, so the rate shows a busy machine rather than the link. */
#define ALD_LINK_SUSPECT_SHARE 2u

bool ald_link_rate_is_suspect(uint64_t rate, uint64_t spot);

bool ald_link_has_rate(const AldLinkDirection directions[static 2]);

/* Returns whether a direction has a rate that is unsteady. */
bool ald_link_is_unsteady(const AldLinkDirection *direction);

/* Returns true if the figures of a link are unsteady or suspect, by their flags, intervals and spreads. */
bool ald_link_is_doubtful(const AldLinkSocket *link);

/* Estimates what a direction carries now: its rate, scaled by the last spot check relative to the spot check
 * of the full measurement. Absent if any of the three is, or if no record could hold the result. */
uint64_t ald_link_estimate(uint64_t rate, uint64_t spot, uint64_t last_spot);

/* Return the bounds of the confidence interval of a rate; the rate itself if its interval is unknown. */
double ald_link_rate_least(uint64_t rate, double interval);
double ald_link_rate_most(uint64_t rate, double interval);

/* Returns whether one of two rates is more than twice the other even at the ends of their intervals; never if
 * either is unknown. */
bool ald_link_rates_are_asymmetric(uint64_t rate, double interval, uint64_t other, double other_interval);
