/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner-due.h"
#include "state/store/store.h"

/* Merges the results of this node's link probes with earlier ones. */

/*
 * Rates of full measurements that differ by less than this agree, in percent. Their intervals cover the
 * variation within one measurement; measurements some minutes apart also differ because of the scheduler,
 * processor clocks and the bursts of a shaper, by about 2 % on unchanged links.
 */
#define ALD_LINK_AGREE_PERCENT 3.0

/* A spot check lasts about 10 ms, so it varies more: it agrees within this, or within three times the spread
 * of the full measurement. */
#define ALD_LINK_SPOT_PERCENT 20.0
#define ALD_LINK_SPOT_SPREADS 3.0

/* If a new rate is lower by more than this, it is measured again before it replaces the old one. */
#define ALD_LINK_LOWER_PERCENT 20.0

/* Round trips have changed if they differ by both this factor and this amount, which the scheduler alone does
 * not cause. */
#define ALD_LINK_RTT_FACTOR 1.5
#define ALD_LINK_RTT_NSEC (UINT64_C(250) * 1000)

/* Whether the negotiated speed differs from that at the time of the measurement; never if either end is
 * wireless. */
bool ald_link_speed_changed(const AldLinkSocket *row, uint64_t bits_per_second);

/* The key of a link record, derived from its fields; NULL if they are invalid. Free with g_free(). */
char *ald_link_result_key(const AldRecord *reported);

/* Whether `reported` contains a measurement that is not in `before`, which may be NULL. */
bool ald_link_result_is_new(const AldRecord *before, const AldRecord *reported);

/*
 * `reported` is what one probe reported: with MeasuredUSec a full measurement, with only RttMeasuredUSec a
 * check (round trips and possibly a spot check), and with FailedUSec a failure. Merging the same record again
 * changes nothing. `before` may be NULL, else it is of the same kind. Returns a new reference.
 *
 * A full measurement replaces the earlier one, with two exceptions. A disturbed one does not replace an
 * undisturbed one until that is older than ALD_LINK_TTL_DISTURBED times its time to live. One that is lower
 * by more than ALD_LINK_LOWER_PERCENT, or lacks a direction, only marks the record as changed, unless it is
 * already marked for any reason: the next measurement decides. The interval between full measurements doubles
 * if the figures agree.
 *
 * A check replaces the round trips, and either confirms the figures or marks the record as changed. It never
 * touches the rates.
 *
 * The rates are those between two interfaces. If a measurement or a check used another one at either end,
 * they are dropped, and the record is marked as changed.
 *
 * A failure leaves the figures as they are; it is added beside them, and counted. The reason why a direction
 * has no rate is kept until it has one, or until another failure.
 */
AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *reported, const AldTtlBounds *bounds);
