/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/store/database.h"
#include "services/history/store/tiers.h"

/*
 * A series in [from, to), as buckets that divide this time equally into at most so many points. They come
 * from the coarsest tier that has this resolution, and what it has no longer from the next coarser one, so
 * that the first and the last may include what is up to a minute, or an hour, outside of that time. A
 * bucket in which nothing was observed is not there; one in which the field was unknown only has no values.
 * Recent samples, settled, are those that may not be in the tiers yet.
 */
int ald_query_series(AldDatabase *database, uint32_t series, const GArray *recent, int64_t from, int64_t to,
        unsigned points, GArray **ret);
