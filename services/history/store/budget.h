/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "services/history/store/database.h"

/*
 * How much the history may take: the file and its log together never exceed the budget. To keep it, the
 * oldest is dropped: of the tier that reaches back furthest in proportion to its goal (tier-table.h), so that
 * a day of samples, a month of minutes and a year of hours are given up alike.
 */
#define ALD_BUDGET_MIN (UINT64_C(1) << 20)

/* What one transaction may write, with pages that it touches, and the log may reach. */
size_t ald_budget_transaction(uint64_t budget);
uint64_t ald_budget_log(uint64_t budget);

/* Series and events that a budget allows. */
unsigned ald_budget_series(uint64_t budget);
unsigned ald_budget_events(uint64_t budget);

/* Limits the file. Call it when the budget has changed. */
int ald_budget_set(AldDatabase *database, uint64_t budget);

/*
 * Makes room for a transaction. 1 if the file still exceeds the budget, as it may after the budget was
 * lowered by far: one call takes only a fraction of a second. -EBUSY if a program reads the file for so long
 * that the log is full. Adds to `events` how many events were dropped.
 */
int ald_budget_keep(AldDatabase *database, uint64_t budget, uint64_t *events);

/*
 * Drops what is older than its tier keeps, or a day or more in the future. The clock may be wrong, so it is a
 * few spans each time: called each hour, this keeps up with a clock that is right, and a clock that is a year
 * off for an hour costs a few hours.
 */
int ald_budget_retire(AldDatabase *database, int64_t now);
