/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "services/history/store/database.h"

/*
 * When each finding began and ended. If there are too many, those of the node that reports the most are
 * dropped, so that none makes others lose theirs: first what has ended, the oldest first, then what still
 * lasts.
 */
#define ALD_EVENT_TEXT_MAX 2048u
#define ALD_EVENT_WORD_MAX 256u

typedef struct AldKeptEvent {
        int64_t id;
        int64_t began, ended; /* µs; INT64_MAX: it has not ended */
        const char *finding;  /* its Id, of at most ALD_EVENT_WORD_MAX bytes */
        const char *nodes;    /* their ids, with commas between them; at most ALD_EVENT_TEXT_MAX bytes */
        const char *text;     /* its row as JSON, of at most as many */
        const char *reporter; /* id of the node that reports it, of at most ALD_EVENT_WORD_MAX bytes; empty:
                                 this service and the state service */
} AldKeptEvent;

/* Adds an event whose id is ignored, and drops some if there are more than max. */
int ald_event_begin(AldDatabase *database, const AldKeptEvent *event, unsigned max, int64_t *ret_id,
        uint64_t *ret_dropped);

/* Drops so many. */
int ald_events_drop(AldDatabase *database, uint64_t n);

/* -ENODATA if there is no event of this number that began then, or it has ended: in a new file, the numbers
 * of an older one are given again. */
int ald_event_end(AldDatabase *database, int64_t id, int64_t began, int64_t ended);

/* Moves what began before a time by this much, and its end if that is before the time as well. */
int ald_events_shift(AldDatabase *database, int64_t before, int64_t usec);

/* Of what began before a time, drops what has ended; what has not begins anew at `began`. */
int ald_events_restart(AldDatabase *database, int64_t before, int64_t began);

/* Called for each; what the event points to ends with the call. */
typedef void (*AldEventVisit)(const AldKeptEvent *event, void *userdata);

/* All that have not ended. */
int ald_events_visit_open(AldDatabase *database, AldEventVisit visit, void *userdata);

/* Those of which some part is within [from, to), in the order of their beginnings, at most max of them:
 * -E2BIG after these if there are more. */
int ald_events_visit(
        AldDatabase *database, int64_t from, int64_t to, unsigned max, AldEventVisit visit, void *userdata);
