/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/store/database.h"
#include "services/history/store/tiers.h"

/*
 * Returns a series in [from, to) as buckets that divide this time equally into at most `points` points. They
 * come from the coarsest tier with this resolution; what it no longer has comes from the next coarser one, so
 * the first and the last bucket may include data up to a minute, or an hour, outside of that time. Buckets in
 * which nothing was observed are omitted; one in which the field was unknown has no values. `recent` has the
 * settled samples that may not be in the tiers yet.
 */
int ald_query_series(AldDatabase *database, uint32_t series, const GArray *recent, int64_t from, int64_t to,
        unsigned points, GArray **ret);
