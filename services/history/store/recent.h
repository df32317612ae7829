/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/history/store/database.h"
#include "services/history/store/sample.h"

/*
 * Samples that are not in the tiers yet: a row for each time they are written and each group of series. That
 * writes each sample once a minute instead of its whole chunk, and keeps an hour of samples out of memory.
 */
#define ALD_RECENT_GROUP 16u /* series with adjacent ids */

typedef struct AldRecentSample {
        uint32_t series;
        AldSample sample;
} AldRecentSample;

/* Within a transaction. The samples are sorted by series and settled. */
int ald_recent_append(AldDatabase *database, const GArray *samples);

/* The numbers of the groups that have rows, ascending, as uint32_t, and in how often they were written. */
int ald_recent_groups(AldDatabase *database, GArray *groups, unsigned *ret_n_written);

/* Appends the samples of a group to an array for each of its series, or of one of them only. */
int ald_recent_load_group(AldDatabase *database, uint32_t group, GArray *of_series[ALD_RECENT_GROUP]);
int ald_recent_load(AldDatabase *database, uint32_t series, GArray *samples);

/* All groups at once: their rows share pages, each of which would be written again for each group. */
int ald_recent_drop(AldDatabase *database);
