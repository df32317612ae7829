/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/history/store/events.h"
#include "services/history/store/series-table.h"
#include "services/history/store/tiers.h"

/*
 * The history of this machine's view of the cluster, in a file. Samples wait in memory until they are
 * flushed, which is to be done once a minute, so that a killed process loses no more than that. None of the
 * errors is fatal: samples go on waiting while the file cannot be written, and the oldest of the node that
 * has the most are lost when there are too many. A damaged file, or one of a newer version, is set aside
 * under another name, and a new one begins. A history is not changed by time itself: what time it is,
 * CLOCK_REALTIME in µs, is an argument.
 */
typedef struct AldHistory AldHistory;

#define ALD_HISTORY_POINTS_MAX 10000u
#define ALD_HISTORY_EVENTS_MAX 10000u
/* Samples that wait. */
#define ALD_HISTORY_PENDING_MAX 65536u

typedef enum AldHistoryFault {
        ALD_HISTORY_WORKS,
        ALD_HISTORY_LOCKED,    /* by another program */
        ALD_HISTORY_READ_ONLY, /* the file or its directory */
        ALD_HISTORY_FULL,      /* the disk */
        ALD_HISTORY_DAMAGED,   /* and cannot be set aside */
        ALD_HISTORY_NEWER,     /* and cannot be set aside */
        ALD_HISTORY_FAILED,
} AldHistoryFault;

/* Touches no file yet. The budget is at least ALD_BUDGET_MIN (budget.h). */
AldHistory *ald_history_new(const char *path, uint64_t budget);

/* What waits is lost unless it was flushed. */
void ald_history_free(AldHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHistory, ald_history_free)

/* Why nothing can be written or read at present, in a sentence if text is not NULL. */
AldHistoryFault ald_history_fault(const AldHistory *history, const char **ret_text);

/* Samples that were lost so far since they could not be written, and events since there were too many. */
uint64_t ald_history_lost(const AldHistory *history);
uint64_t ald_history_lost_events(const AldHistory *history);

/*
 * Adds a sample, rounded as ald_sample_round() does, to a precision of which a field that has a threshold
 * needs a quarter of it. NaN says that the field is unknown from then on. -ERANGE if it is a day or more from
 * now, or the clock is not set; -EINVAL if a name is too long or its field is empty.
 */
int ald_history_put(AldHistory *history, const AldSeriesName *series, int64_t time, double value,
        double precision, int64_t now);

/* Whether so many samples wait that they should be flushed now. */
bool ald_history_is_full(const AldHistory *history);

/* Writes what waits. If this hour is another than the last time, samples become minutes and hours, and what
 * is too old is dropped. 1 if the file exceeds the budget: call it again soon. */
int ald_history_flush(AldHistory *history, int64_t now);

/* Changes the budget, and drops what exceeds it. 1 if that is too much for one call: ald_history_flush()
 * drops more. */
int ald_history_set_budget(AldHistory *history, uint64_t budget);

/*
 * See ald_query_series(). -EINVAL if to is not after from, or either not within [0, ALD_HISTORY_TIME_MAX];
 * -ERANGE unless points is from 1 to ALD_HISTORY_POINTS_MAX; -ENODATA if nothing is known of the series.
 */
#define ALD_HISTORY_TIME_MAX (INT64_C(1) << 53)
int ald_history_query(AldHistory *history, const AldSeriesName *series, int64_t from, int64_t to,
        unsigned points, GArray **ret);

/* What the file and its log take, in bytes. */
int ald_history_size(AldHistory *history, uint64_t *ret);

/* The time of the first sample, rounded down to what its tier has: -ENODATA if there is none. */
int ald_history_oldest(AldHistory *history, int64_t *ret);

/* Written at once. */
int ald_history_begin_event(AldHistory *history, const AldKeptEvent *event, int64_t *ret_id);
int ald_history_end_event(AldHistory *history, int64_t id, int64_t began, int64_t ended);

/* See ald_events_shift() and ald_events_restart(). */
int ald_history_shift_events(AldHistory *history, int64_t before, int64_t usec);
int ald_history_restart_events(AldHistory *history, int64_t before, int64_t began);

/* All that have not ended. */
int ald_history_visit_open_events(AldHistory *history, AldEventVisit visit, void *userdata);

/* See ald_events_visit(); max is at most ALD_HISTORY_EVENTS_MAX. */
int ald_history_visit_events(
        AldHistory *history, int64_t from, int64_t to, unsigned max, AldEventVisit visit, void *userdata);
