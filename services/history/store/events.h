/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "services/history/store/database.h"

/*
 * Stores when each finding began and ended. If there are too many events, those of the node that reports the
 * most are dropped, so that no node displaces the events of others: ended ones first, the oldest before
 * others, then those that still last.
 */
#define ALD_EVENT_TEXT_MAX 2048u
#define ALD_EVENT_WORD_MAX 256u

typedef struct AldKeptEvent {
        int64_t id;
        int64_t began, ended; /* µs; INT64_MAX if it has not ended */
        const char *finding;  /* Id of the finding, at most ALD_EVENT_WORD_MAX bytes */
        const char *nodes;    /* ids, separated by commas; at most ALD_EVENT_TEXT_MAX bytes */
        const char *text;     /* the row as JSON; at most ALD_EVENT_TEXT_MAX bytes */
        const char *reporter; /* node id, at most ALD_EVENT_WORD_MAX bytes; empty if reported locally */
} AldKeptEvent;

/* Adds an event, ignoring its id, and drops some if there are more than `max`. */
int ald_event_begin(AldDatabase *database, const AldKeptEvent *event, unsigned max, int64_t *ret_id,
        uint64_t *ret_dropped);

/* Drops `n` events. */
int ald_events_drop(AldDatabase *database, uint64_t n);

/* Ends an event. Returns -ENODATA if no event of this number began at this time, or if it has ended: a new
 * file reuses the numbers of an older one. */
int ald_event_end(AldDatabase *database, int64_t id, int64_t began, int64_t ended);

/* Moves the events that began before a time by `usec`; their ends as well, if they are before that time. */
int ald_events_shift(AldDatabase *database, int64_t before, int64_t usec);

/* Of the events that began before a time, drops those that have ended and restarts the others at `began`. */
int ald_events_restart(AldDatabase *database, int64_t before, int64_t began);

/* Called for each event, which is valid during the call. */
typedef void (*AldEventVisit)(const AldKeptEvent *event, void *userdata);

/* Visits all events that have not ended. */
int ald_events_visit_open(AldDatabase *database, AldEventVisit visit, void *userdata);

/* Visits at most `max` events that overlap [from, to), in the order of their beginnings. Returns -E2BIG
 * afterwards if there are more. */
int ald_events_visit(
        AldDatabase *database, int64_t from, int64_t to, unsigned max, AldEventVisit visit, void *userdata);
