/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/shown-series.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/layout/spark-points.h"

/* A figure of a node or link over time, as a row shows it. Texts are safe. */
typedef struct AldHistorySeries {
        AldShownSeries *recorded;
        char *title;
        char *detail;   /* whose figure it is, or NULL */
        GArray *points; /* AldSparkPoint; NULL: not read yet */
} AldHistorySeries;

/* What may be recorded of the node, or of the links of the pair, in the order in which it is shown. */
GPtrArray *ald_history_series_of(const AldDetailsSubject *subject);

/* Whether there is anything to be drawn. */
bool ald_history_series_is_known(const AldHistorySeries *series);
