/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

/*
 * Limits work that others cause to a share of the time: one part in ALD_TIME_SHARE_PARTS, of which up to
 * ALD_TIME_SHARE_SAVED_USEC can be saved. Work may begin while any of it is left; work that takes longer
 * delays the next. All times are in µs of CLOCK_MONOTONIC.
 */
typedef struct AldTimeShare {
        gint64 left; /* at the time `at`; negative if more was taken than there was */
        gint64 at;
} AldTimeShare;

#define ALD_TIME_SHARE_PARTS 20
#define ALD_TIME_SHARE_SAVED_USEC G_USEC_PER_SEC

/* Returns a share with as much as can be saved. */
AldTimeShare ald_time_share_new(gint64 now);

/* Returns whether work may begin now. */
bool ald_time_share_has_any(AldTimeShare *share, gint64 now);

/* Notes how long the work took. */
void ald_time_share_note_work(AldTimeShare *share, gint64 usec);

/* Returns when work may begin next, which is in the past if it may now. */
gint64 ald_time_share_next(const AldTimeShare *share);
