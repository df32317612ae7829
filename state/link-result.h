/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/link-ttl.h"
#include "state/store.h"

/* Merges the results of this node's probes with what was known of a path. */

/*
 * Rates of whole measurements that differ by less than this are the same, in percent. Their intervals cover
 * what varies within one measurement; two measurements minutes apart also differ by what the scheduler, the
 * clocks of the processors and the burst of a shaper do, some 2 % on links that nobody touched.
 */
#define ALD_LINK_AGREE_PERCENT 3.0

/* A spot check lasts some 10 ms, so it varies more: it agrees within this, or three times the spread of the
 * whole measurement. */
#define ALD_LINK_SPOT_PERCENT 20.0
#define ALD_LINK_SPOT_SPREADS 3.0

/* A figure is measured again before it is replaced by one that is lower by more than this. */
#define ALD_LINK_LOWER_PERCENT 20.0

/* Round trips have changed where they differ by this factor, and by this much: the scheduler alone does less.
 */
#define ALD_LINK_RTT_FACTOR 1.5
#define ALD_LINK_RTT_NSEC (UINT64_C(250) * 1000)

/* Whether the negotiated speed is another than when the path was measured; never where either end is a
 * radio. */
bool ald_link_speed_changed(const AldLinkSocket *row, uint64_t bits_per_second);

/* The key of a link record by its own fields; NULL where they make none. Free with g_free(). */
char *ald_link_result_key(const AldRecord *told);

/* Whether something was measured that is not in `before`, which may be NULL. */
bool ald_link_result_is_new(const AldRecord *before, const AldRecord *told);

/*
 * `told` is what one probe reported: with MeasuredUSec a whole measurement, with only RttMeasuredUSec a
 * check, which is round trips and maybe a spot check, and with FailedUSec a failure. Merging the same record
 * again changes nothing. `before` may be NULL, else it is of the same kind. Returns a new reference.
 *
 * A whole measurement replaces what was, with two exceptions. A disturbed one leaves an undisturbed one alone
 * until that is ALD_LINK_TTL_DISTURBED times to live old. One that is lower by more than
 * ALD_LINK_LOWER_PERCENT, or lacks a direction, only marks the record as changed, unless it is marked
 * already, whatever the cause: the next measurement decides. The interval between whole measurements doubles
 * where the figures agree.
 *
 * A check replaces the round trips, and either confirms the figures or marks the record as changed. It never
 * touches the rates.
 *
 * A failure leaves the figures as they are; it is added beside them, and counted. Why a direction has no rate
 * is kept until it has one, or another failure comes.
 */
AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *told, const AldTtlBounds *bounds);
