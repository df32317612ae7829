/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "state-client/model.h"

/*
 * What org.alidade.History1 reports about findings: when they began and ended, what is slower than its past,
 * and what is silent. Calls wait for their answer. JSON is as received, including fields of a newer service.
 */

/* When a finding began and ended. */
typedef struct AldFindingEvent {
        AldHistoryEvent times;
        AldFindingRow *row;
        json_t *finding; /* the same */
} AldFindingEvent;

/* From the finding as received; takes a reference. NULL if that is no object. */
AldFindingEvent *ald_finding_event_new(const AldHistoryEvent *times, json_t *finding);
void ald_finding_event_free(AldFindingEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFindingEvent, ald_finding_event_free)

/* {"Event", "BeganUSec", "EndedUSec", "Finding"} */
json_t *ald_finding_event_to_json(const AldFindingEvent *event);

/*
 * Reads all pages of GetEvents(): AldFindingEvent in the order of their beginnings. *ret_complete is false if
 * so many findings lasted at the same time that they do not fit into a page. Negative errno, with the error
 * set if the service has refused it.
 */
int ald_finding_events_read(sd_bus *bus, uint64_t from_usec, uint64_t to_usec, GPtrArray **ret,
        bool *ret_complete, sd_bus_error *error);

/* Reads GetSilences(): AldSilenceRow, the oldest first. Errors as above. */
int ald_silence_rows_read(sd_bus *bus, GPtrArray **ret, sd_bus_error *error);

/* Of these, the one that silences the finding for longest, or NULL. `silences` may be NULL. */
const AldSilenceRow *ald_silence_rows_find(const GPtrArray *silences, const AldFindingRow *finding);

/* If the service runs, adds what is slower than its past to the findings of the model. Returns the silences
 * (AldSilenceRow), none if the service does not run; NULL if it does not answer within that time. */
GPtrArray *ald_finding_history_join(sd_bus *bus, AldModel *model, uint64_t usec);
