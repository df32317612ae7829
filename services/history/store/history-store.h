/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/history/store/events.h"
#include "services/history/store/series-table.h"
#include "services/history/store/tiers.h"

/*
 * Stores the history of this machine's view of the cluster in a file. Samples wait in memory until they are
 * flushed, which should happen once a minute, so that a killed process loses no more than that. Errors are
 * not fatal: samples keep waiting while the file cannot be written, and if there are too many, the oldest of
 * the node that has the most are lost. A damaged file, or one of a newer version, is renamed and replaced by
 * a new one. The history does not read the clock: the present time, CLOCK_REALTIME in µs, is an argument.
 */
typedef struct AldHistory AldHistory;

#define ALD_HISTORY_POINTS_MAX 10000u
#define ALD_HISTORY_EVENTS_MAX 10000u
/* The maximum number of pending samples. */
#define ALD_HISTORY_PENDING_MAX 65536u

typedef enum AldHistoryFault {
        ALD_HISTORY_WORKS,
        ALD_HISTORY_LOCKED,    /* by another program */
        ALD_HISTORY_READ_ONLY, /* the file or its directory */
        ALD_HISTORY_FULL,      /* the disk */
        ALD_HISTORY_DAMAGED,   /* and cannot be renamed */
        ALD_HISTORY_NEWER,     /* and cannot be renamed */
        ALD_HISTORY_FAILED,
} AldHistoryFault;

/* Does not access the file yet. The budget is at least ALD_BUDGET_MIN (budget.h). */
AldHistory *ald_history_new(const char *path, uint64_t budget);

/* Pending samples are lost unless they were flushed. */
void ald_history_free(AldHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHistory, ald_history_free)

/* Returns why nothing can be written or read at present. *ret_text becomes a sentence, unless ret_text is
 * NULL. */
AldHistoryFault ald_history_fault(const AldHistory *history, const char **ret_text);

/* Return the number of samples lost so far because they could not be written, and of events dropped because
 * there were too many. */
uint64_t ald_history_lost(const AldHistory *history);
uint64_t ald_history_lost_events(const AldHistory *history);

/*
 * Adds a sample, rounded with `precision` as ald_sample_round() does; for a field with a threshold, a quarter
 * of it is enough. NaN means that the field is unknown from then on. Returns -ERANGE if the time differs from
 * `now` by a day or more, or the clock is not set; -EINVAL if a name is too long or the field is empty.
 */
int ald_history_put(AldHistory *history, const AldSeriesName *series, int64_t time, double value,
        double precision, int64_t now);

/* Returns whether there are so many pending samples that they should be flushed now. */
bool ald_history_is_full(const AldHistory *history);

/* Writes the pending samples. If the hour has changed since the last call, also moves samples to minutes and
 * hours, and drops data that is too old. Returns 1 if the file exceeds the budget: call it again soon. */
int ald_history_flush(AldHistory *history, int64_t now);

/* Changes the budget and drops data that exceeds it. Returns 1 if that is too much for one call;
 * ald_history_flush() then drops more. */
int ald_history_set_budget(AldHistory *history, uint64_t budget);

/*
 * Queries a series as ald_query_series() does. Returns -EINVAL if `to` is not after `from`, or either is not
 * within [0, ALD_HISTORY_TIME_MAX]; -ERANGE unless `points` is from 1 to ALD_HISTORY_POINTS_MAX; -ENODATA if
 * nothing is known of the series.
 */
#define ALD_HISTORY_TIME_MAX (INT64_C(1) << 53)
int ald_history_query(AldHistory *history, const AldSeriesName *series, int64_t from, int64_t to,
        unsigned points, GArray **ret);

/* Returns the size of the file and its log, in bytes. */
int ald_history_size(AldHistory *history, uint64_t *ret);

/* Returns the time of the first sample, rounded down to the resolution of its tier; -ENODATA if there is
 * none. */
int ald_history_oldest(AldHistory *history, int64_t *ret);

/* Events are written at once. */
int ald_history_begin_event(AldHistory *history, const AldKeptEvent *event, int64_t *ret_id);
int ald_history_end_event(AldHistory *history, int64_t id, int64_t began, int64_t ended);

/* See ald_events_shift() and ald_events_restart(). */
int ald_history_shift_events(AldHistory *history, int64_t before, int64_t usec);
int ald_history_restart_events(AldHistory *history, int64_t before, int64_t began);

/* Visits all events that have not ended. */
int ald_history_visit_open_events(AldHistory *history, AldEventVisit visit, void *userdata);

/* See ald_events_visit(). `max` is limited to ALD_HISTORY_EVENTS_MAX. */
int ald_history_visit_events(
        AldHistory *history, int64_t from, int64_t to, unsigned max, AldEventVisit visit, void *userdata);
