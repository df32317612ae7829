/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/exporter/shared-text.h"

/*
 * The metrics of the cluster, always kept up to date with the state service: a lost connection is reopened.
 * They are written only on request, and at most every ALD_LIVE_METRICS_USEC.
 */
typedef struct AldLiveMetrics AldLiveMetrics;

#define ALD_LIVE_METRICS_USEC (G_USEC_PER_SEC / 4)

/* Figures of the server about itself, which become metrics. */
typedef struct AldLiveFigures {
        uint64_t requests, refused, ended;
        unsigned connections;
} AldLiveFigures;

/* Called once, when it is known whether there is anything to show. */
typedef void (*AldLiveReady)(void *userdata);

AldLiveMetrics *ald_live_metrics_new(AldLiveReady ready, void *userdata);
void ald_live_metrics_free(AldLiveMetrics *live);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLiveMetrics, ald_live_metrics_free)

/* Returns the present text, or NULL while the state service cannot be read; then *ret_reason says why, valid
 * until the next call. */
struct MHD_Response *ald_live_metrics_get(AldLiveMetrics *live, AldMetricFormat format,
        const AldLiveFigures *figures, uint64_t *ret_number, const char **ret_reason);

/* Returns the number of a text to drop; see ald_shared_text_excess(). */
uint64_t ald_live_metrics_excess(AldLiveMetrics *live);
