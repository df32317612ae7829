/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "record/record.h"

/*
 * The history service of a machine, over the connection on which its state service is followed. It is never
 * started for this. What is slower than its past, and which findings are silent, is kept up to date; only
 * signals of the owner of its name are trusted.
 */
typedef struct AldLiveHistory AldLiveHistory;

/* Called from the main loop after the findings or the silences have changed; `turned`: all findings have come
 * or gone with the service. */
typedef void (*AldLiveHistoryChanged)(bool turned, void *userdata);

AldLiveHistory *ald_live_history_new(AldLiveHistoryChanged changed, void *userdata);
void ald_live_history_free(AldLiveHistory *history);

/* Without a connection nothing is followed, and what is known is kept. Pending calls fail with the end of
 * one. */
void ald_live_history_connect(AldLiveHistory *history, sd_bus *bus);
void ald_live_history_disconnect(AldLiveHistory *history);

/* Rows of AldFindingRow and of AldSilenceRow; valid until the main loop runs again. */
const AldRows *ald_live_history_findings(AldLiveHistory *history);
const AldRows *ald_live_history_silences(AldLiveHistory *history);

/* Whether a silence covers this finding, as the service has it. */
bool ald_live_history_is_silent(AldLiveHistory *history, const AldFindingRow *finding);

/* A silence of one of these nodes, NULL-terminated, or of the links between them; NULL: none. */
const AldSilenceRow *ald_live_history_find_silence(AldLiveHistory *history, const char *const *nodes);

/* Whether there is a silence of this node, or of the links between two; b may be NULL. */
bool ald_live_history_has_silence(AldLiveHistory *history, const char *a, const char *b);

/* One call whose answer is awaited. It is freed before the function is called. */
typedef struct AldHistoryCall AldHistoryCall;

/* The reply, or else the error. Called once, from the main loop. */
typedef void (*AldHistoryReplied)(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

/* Makes a call of the service from data. Negative errno of sd-bus. */
typedef int (*AldHistoryMake)(sd_bus *bus, const void *data, sd_bus_message **ret);

/* Sends the call that is made from the data now. NULL if there is no connection. */
AldHistoryCall *ald_history_call_new(AldLiveHistory *history, AldHistoryMake make, const void *data,
        AldHistoryReplied replied, void *userdata);

/* The answer is not wanted any more. */
void ald_history_call_free(AldHistoryCall *call);
