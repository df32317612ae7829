/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/details/details-section.h"
#include "clients/desktop/layout/sparkline.h"

/* A figure of a node or link over time: where it is recorded, and how it is shown. */
typedef struct AldHistorySeries {
        char *node, *key, *field; /* arguments of GetSeries() */
        const char *kind;
        const char *title;
        char *name;   /* the title, if it is not the same for all, or NULL */
        char *detail; /* safe text, or NULL */
        bool is_share;
        char *(*format)(double);
        GArray *points; /* AldSparkPoint; NULL: not read yet */
} AldHistorySeries;

/* What may be recorded of the node, or of the links of the pair, in the order in which it is shown. */
GPtrArray *ald_history_series_of(const AldDetailsSubject *subject);

/* Whether there is anything to be drawn. */
bool ald_history_series_is_known(const AldHistorySeries *series);
