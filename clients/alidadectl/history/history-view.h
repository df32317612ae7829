/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/finding-history.h"
#include "clients/common/shown-series.h"

/* The number of points that are read of each series: more than a terminal has columns, so that the last value
 * is from the end of the span. */
#define ALD_SHOWN_POINTS 1000u

/* The history of a span of time that is shown, as text, as JSON or as CSV. */
typedef struct AldHistoryView {
        AldModel *model;
        const AldEntity *node, *peer; /* peer: the other end of a link, else NULL */
        uint64_t from_usec, to_usec;
        uint64_t begins_usec; /* when the history begins; 0 if unknown */
        GPtrArray *series;    /* AldShownSeries, with their points */
        GPtrArray *events;    /* AldFindingEvent */
} AldHistoryView;
