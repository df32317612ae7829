/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* How far the figures of a link can be trusted. */

#define ALD_LINK_DISTURBED "disturbed"
#define ALD_LINK_UNSTEADY "unsteady"

/* How the Failure of a measurement of one direction only begins; the reason follows. */
#define ALD_LINK_PARTIAL "partial: "

/* Whether the flags of a record have this one; they may be NULL. */
bool ald_link_has_flag(const char *const *flags, const char *flag);

/*
 * Whether other traffic shifted a rate. It shares the path with the probe, so it may have taken as much from
 * the rate as it carried; what stays within the interval (percent, maybe absent) does not show. The limit is
 * at least 2 %, since protocols send that much in any case and a measurement does not resolve less, and at
 * most 10 %, since traffic that begins during the measurement widens the interval itself.
 */
#define ALD_LINK_DISTURBED_PERCENT_LEAST 2.0
#define ALD_LINK_DISTURBED_PERCENT_MOST 10.0

bool ald_link_rate_is_disturbed(uint64_t rate, double interval, uint64_t other);

/* The greater of the other traffic in those directions that it disturbed; absent where none is. A spot check
 * is compared with its own rates. */
uint64_t ald_link_disturbance(const AldLinkSocket *link);

/* Beyond these an interval or a spread, in percent, makes a link unsteady; absent values never do. Congestion
 * control and jitter alone spread the rate of a link by up to 35 % whose mean repeats within a percent. */
#define ALD_LINK_UNSTEADY_PERCENT 25.0
#define ALD_LINK_UNSTEADY_SPREAD_PERCENT 50.0

bool ald_link_percent_is_unsteady(double interval, double spread);

/* The bounds of the confidence interval of a rate; the rate itself where its interval is unknown. */
double ald_link_rate_least(uint64_t rate, double interval);
double ald_link_rate_most(uint64_t rate, double interval);

/* Whether one of two rates is more than twice the other even at the ends of their intervals; never where
 * either is unknown. */
bool ald_link_rates_are_uneven(uint64_t rate, double interval, uint64_t other, double other_interval);
