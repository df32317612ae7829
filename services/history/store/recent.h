/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/history/store/database.h"
#include "services/history/store/sample.h"

/*
 * Samples that are not in the tiers yet: a row for each write and group of series. This way, each sample is
 * written once a minute without the rest of its chunk, and an hour of samples need not be kept in memory.
 */
#define ALD_RECENT_GROUP 16u /* number of series with adjacent ids */

typedef struct AldRecentSample {
        uint32_t series;
        AldSample sample;
} AldRecentSample;

/* Requires a transaction. The samples must be sorted by series and settled. */
int ald_recent_append(AldDatabase *database, const GArray *samples);

/* Returns the numbers of the groups that have rows, ascending, as uint32_t, and how many writes they come
 * from. */
int ald_recent_groups(AldDatabase *database, GArray *groups, unsigned *ret_n_written);

/* Append the samples of a group to an array for each of its series, or those of one series only. */
int ald_recent_load_group(AldDatabase *database, uint32_t group, GArray *of_series[ALD_RECENT_GROUP]);
int ald_recent_load(AldDatabase *database, uint32_t series, GArray *samples);

/* Drops all groups at once: their rows share pages, which would be written again for each group. */
int ald_recent_drop(AldDatabase *database);
