/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "services/history/store/database.h"

/*
 * The limit on the size of the history: the file and its log together never exceed the budget. To stay within
 * it, the oldest data is dropped, from the tier that reaches back furthest in proportion to its goal
 * (tier-table.h): a day of samples, a month of minutes and a year of hours are given up alike.
 */
#define ALD_BUDGET_MIN (UINT64_C(1) << 20)

/* Returns the maximum size of what one transaction writes, including the pages that it touches. */
size_t ald_budget_transaction(uint64_t budget);

/* Return the maximum numbers of series and events. */
unsigned ald_budget_series(uint64_t budget);
unsigned ald_budget_events(uint64_t budget);

/* Limits the file. Call it when the budget has changed. */
int ald_budget_set(AldDatabase *database, uint64_t budget);

/*
 * Makes room for a transaction. Returns 1 if the file still exceeds the budget, as it may after the budget
 * was lowered a lot, since one call takes only a fraction of a second; -EBUSY if another program reads the
 * file for so long that the log is full. Adds the number of dropped events to `events`.
 */
int ald_budget_keep(AldDatabase *database, uint64_t budget, uint64_t *events);

/*
 * Drops data that is older than its tier keeps, or a day or more in the future. As the clock may be wrong,
 * each call drops only a few spans: called every hour, this keeps up with a correct clock, while a clock that
 * is a year off for an hour costs only a few hours.
 */
int ald_budget_retire(AldDatabase *database, int64_t now);
