/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "record/record.h"

/*
 * The history service of a machine, over the connection on which its state service is followed. It is never
 * started for this. Its findings about what is slower than its past, and its silences, are kept up to date;
 * only signals of the owner of its name are trusted.
 */
typedef struct AldLiveHistory AldLiveHistory;

/* Called from the main loop after the findings or the silences have changed. `turned` means that all findings
 * have come or gone with the service. */
typedef void (*AldLiveHistoryChanged)(bool turned, void *userdata);

AldLiveHistory *ald_live_history_new(AldLiveHistoryChanged changed, void *userdata);
void ald_live_history_free(AldLiveHistory *history);

/* Without a connection nothing is followed, and known rows are kept. Pending calls fail when a connection
 * ends. */
void ald_live_history_connect(AldLiveHistory *history, sd_bus *bus);
void ald_live_history_disconnect(AldLiveHistory *history);

/* Returns the findings, as AldFindingRow; valid until the main loop runs again. */
const AldRows *ald_live_history_findings(AldLiveHistory *history);

/* Returns whether a silence of the service covers this finding. */
bool ald_live_history_is_silent(AldLiveHistory *history, const AldFindingRow *finding);

/* Returns a silence of one of these nodes (NULL-terminated), or of the links between them; NULL if there is
 * none. */
const AldSilenceRow *ald_live_history_find_silence(AldLiveHistory *history, const char *const *nodes);

/* Returns whether there is a silence of this node, or of the links between two; b may be NULL. */
bool ald_live_history_has_silence(AldLiveHistory *history, const char *a, const char *b);

/* A pending call. It is freed before the callback is called. */
typedef struct AldHistoryCall AldHistoryCall;

/* Receives either the reply or the error. Called once, from the main loop. */
typedef void (*AldHistoryReplied)(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

/* Creates the message of a call from data. Returns a negative errno of sd-bus on failure. */
typedef int (*AldHistoryMake)(sd_bus *bus, const void *data, sd_bus_message **ret);

/* Sends the call that `make` creates from the data, which need not outlive this. Returns NULL if there is no
 * connection or the call cannot be sent. */
AldHistoryCall *ald_history_call_new(AldLiveHistory *history, AldHistoryMake make, const void *data,
        AldHistoryReplied replied, void *userdata);

/* Cancels the call; its callback is not called. */
void ald_history_call_free(AldHistoryCall *call);
