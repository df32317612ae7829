/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "state-client/model.h"

/*
 * Reads what org.alidade.History1 reports about findings: when they began and ended, what is slower than its
 * past, and what is silent. Functions that take an error wait for the answer. JSON is as received, including
 * fields of a newer service.
 */

/* When a finding began and ended. */
typedef struct AldFindingEvent {
        AldHistoryEvent times;
        AldFindingRow *row;
        json_t *finding; /* the row as received */
} AldFindingEvent;

/* Makes an event from the finding as received, of which it takes a reference. Returns NULL if that is not an
 * object. */
AldFindingEvent *ald_finding_event_new(const AldHistoryEvent *times, json_t *finding);
void ald_finding_event_free(AldFindingEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFindingEvent, ald_finding_event_free)

/* Returns an object with Event, BeganUSec, EndedUSec and Finding. */
json_t *ald_finding_event_to_json(const AldFindingEvent *event);

/* The events of a span of time, read from GetEvents() page by page. Zero it before its first use. */
typedef struct AldFindingEventQuery {
        uint64_t from_usec, to_usec; /* span of the next page */
        GPtrArray *events;           /* AldFindingEvent, in the order of their beginnings */
        GHashTable *seen;            /* their numbers */
} AldFindingEventQuery;

typedef enum AldFindingEventsRead {
        ALD_FINDING_EVENTS_ALL,
        ALD_FINDING_EVENTS_MORE, /* call for the next page */
        ALD_FINDING_EVENTS_CUT,  /* too many findings lasted at the same time to fit into a page */
} AldFindingEventsRead;

void ald_finding_event_query_begin(AldFindingEventQuery *query, uint64_t from_usec, uint64_t to_usec);
void ald_finding_event_query_clear(AldFindingEventQuery *query);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldFindingEventQuery, ald_finding_event_query_clear)

/* Makes the call for the next page of an AldFindingEventQuery. Negative errno of sd-bus. */
int ald_finding_event_query_make(sd_bus *bus, const void *query, sd_bus_message **ret);

/* Adds the events of the reply. Negative errno. */
int ald_finding_event_query_read(
        AldFindingEventQuery *query, sd_bus_message *reply, AldFindingEventsRead *ret);

/*
 * Reads all pages of GetEvents(): AldFindingEvent in the order of their beginnings. *ret_complete is false if
 * too many findings lasted at the same time to fit into a page. Returns a negative errno on error, with the
 * error set if the service has refused the call.
 */
int ald_finding_events_read(sd_bus *bus, uint64_t from_usec, uint64_t to_usec, GPtrArray **ret,
        bool *ret_complete, sd_bus_error *error);

/* Reads GetSilences(): AldSilenceRow, the oldest first. Errors as above. */
int ald_silence_rows_read(sd_bus *bus, GPtrArray **ret, sd_bus_error *error);

/* The arguments of a call of Silence() or Unsilence(). */
typedef struct AldSilenceCall {
        bool ends;
        const char *node, *peer; /* ids; "" for a silence of the node itself */
        uint64_t until_usec;     /* UINT64_MAX: until it is ended */
        const char *reason;
        bool asks; /* a person may have to type a password before the service answers */
} AldSilenceCall;

/* Makes the call of an AldSilenceCall. Negative errno of sd-bus. */
int ald_silence_call_make(sd_bus *bus, const void *silence, sd_bus_message **ret);

/* Returns the silence that covers the finding for longest, or NULL. `silences` may be NULL. */
const AldSilenceRow *ald_silence_rows_find(const GPtrArray *silences, const AldFindingRow *finding);

/* Adds the slower-than-past findings of the service, if it runs, to the findings of the model. Returns the
 * silences (AldSilenceRow), none if the service does not run; NULL if it does not answer within `usec`. */
GPtrArray *ald_finding_history_join(sd_bus *bus, AldModel *model, uint64_t usec);
