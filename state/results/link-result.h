/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/link/link-ttl.h"
#include "state/store/store.h"

/* Merges the results of this node's link probes with earlier ones. */

/*
 * Rates of full measurements that differ by less than this agree, in percent. Their intervals cover the
 * variation within one measurement; measurements some minutes apart also differ because of the scheduler,
 * processor clocks and the bursts of a shaper, by about 2 % on unchanged links.
 */
#define ALD_LINK_AGREE_PERCENT 3.0

/* A spot check lasts about 10 ms, so it varies more: it agrees within three times the spread of the full
 * measurement, but at least within the first of these, and at most within the second, since otherwise a check
 * of an unsteady link would agree with everything. */
#define ALD_LINK_SPOT_PERCENT 20.0
#define ALD_LINK_SPOT_PERCENT_MOST 30.0
#define ALD_LINK_SPOT_SPREADS 3.0

/* If a new rate is lower by more than this, it is measured again before it replaces the old one. */
#define ALD_LINK_LOWER_PERCENT 20.0

/* A change of a rate by more than ALD_LINK_LOWER_PERCENT is shown for this long. */
#define ALD_LINK_CHANGE_SHOWN_USEC (UINT64_C(3600) * 1000 * 1000)

bool ald_link_rate_has_changed(uint64_t before, uint64_t now);

/* Returns whether a change was found that no full measurement has examined since, or so recently that a
 * measurement without useful figures is repeated soon. Such a measurement does not wait until another one is
 * paid off. */
bool ald_link_awaits_measurement(const AldLinkSocket *row, uint64_t now);

/* Round trips have changed if they differ by both this factor and this amount, which the scheduler alone does
 * not cause. */
#define ALD_LINK_RTT_FACTOR 1.5
#define ALD_LINK_RTT_NSEC (UINT64_C(250) * 1000)

/* Returns whether the negotiated speed differs from that at the time of the measurement; never if either end
 * is wireless. */
bool ald_link_speed_changed(const AldLinkSocket *row, uint64_t bits_per_second);

/* Returns the key of a link record, derived from its fields; NULL if they are invalid. Free with g_free(). */
char *ald_link_result_key(const AldRecord *reported);

/* Returns whether `reported` contains a measurement that is not in `before`, which may be NULL. */
bool ald_link_result_is_new(const AldRecord *before, const AldRecord *reported);

/*
 * `reported` is what one probe reported: with MeasuredUSec a full measurement, with only RttMeasuredUSec a
 * check (round trips and possibly a spot check), and with FailedUSec a failure. Merging the same record again
 * changes nothing. `before` may be NULL, else it is of the same kind. Returns a new reference.
 *
 * A full measurement replaces the earlier one, with three exceptions. A disturbed one does not replace an
 * undisturbed one until that is older than ALD_LINK_TTL_DISTURBED times its time to live. An unsteady or
 * suspect one does not replace a better one that was higher until that is older than ALD_LINK_TTL_DISTURBED
 * times the longest time to live and the one before had about the same rates. One that is lower by more than
 * ALD_LINK_LOWER_PERCENT, or lacks a direction, only marks the record as changed, unless it is already
 * marked for any reason: the next measurement decides. The interval between full measurements doubles if the
 * figures agree; that of unsteady or suspect figures up to ALD_LINK_TTL_DOUBTFUL_USEC.
 *
 * A check replaces the round trips, and either confirms the figures, unless they are unsteady or suspect, or
 * contradicts them. If two checks in a row contradict them, the record is marked as changed; if two spot
 * checks in a row agree with figures whose rates or round trips were marked, it no longer is. A check never
 * touches the rates. Bursts are compared with those of the full measurement, or with its rates where they
 * had none. A check without bursts decides nothing about a contradiction by bursts.
 *
 * The rates are those between two interfaces. If a measurement or a check used another one at either end,
 * they are dropped, and the record is marked as changed.
 *
 * A failure leaves the figures as they are; it is added beside them, and counted. The reason why a direction
 * has no rate is kept until it has one, or until another failure.
 */
AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *reported, const AldTtlBounds *bounds);
