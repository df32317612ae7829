/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/shown-series.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/layout/spark-points.h"

/* A figure of a node or link over time, with its texts, which are safe. */
typedef struct AldHistorySeries {
        AldShownSeries *recorded;
        char *title;
        char *detail;   /* whose figure it is; NULL if that is clear */
        GArray *points; /* AldSparkPoint; NULL if not read yet */
} AldHistorySeries;

/* Returns the AldHistorySeries that may be recorded of the node, or of the links of the pair, in the order in
 * which they are shown. */
GPtrArray *ald_history_series_of(const AldDetailsSubject *subject);

/* Returns whether any of its points is known. */
bool ald_history_series_is_known(const AldHistorySeries *series);
