/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/history/history-view.h"
#include "clients/common/columns/series-columns.h"

/* Appends history as a table with a sparkline in each row, and the events below it, for a terminal of this
 * many columns (0: 80). now_usec is CLOCK_REALTIME. */
void ald_history_describe(GString *out, const AldHistoryView *view, unsigned columns, uint64_t now_usec);

/* Returns an AldSeriesRow for each series, with the same figures as the rows of that table. */
GArray *ald_history_rows(const AldHistoryView *view, uint64_t now_usec);
