/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/silences.h"
#include "services/history/store/history-store.h"
#include "state/alerts/alerts.h"

/*
 * Follows findings over time: turns them into alerts (state/alerts), stores when each began and ended as an
 * event of the history, and sends notices of them unless they are silenced or their reporter has too many
 * (notice-limit.h). alerts.json and silences.json in the state directory keep the state across restarts; the
 * latter also contains which alerts were logged and reported. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldFindingLog AldFindingLog;

typedef struct AldFindingNotice {
        bool begins;
        uint64_t event; /* absent if the history could not be written */
        uint64_t began_usec, ended_usec;
        unsigned symptoms;        /* other findings that it explains */
        const AldFindingRow *row; /* with LeftOut: that number of beginnings, withheld until now */
} AldFindingNotice;

typedef struct AldFindingLogHandler {
        void (*notice)(const AldFindingNotice *notice, void *userdata);
        void (*silences_changed)(void *userdata);
} AldFindingLogHandler;

/* Reads the files, but changes nothing yet. */
AldFindingLog *ald_finding_log_new(
        const char *directory, AldHistory *history, const AldFindingLogHandler *handler, void *userdata);
void ald_finding_log_free(AldFindingLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFindingLog, ald_finding_log_free)

/* Takes over the directory, which belongs to this process from now on. */
void ald_finding_log_begin(AldFindingLog *log, uint64_t now);

/* Updates the log with all present findings, as ald_alerts_update() does. If `only` is not NULL, findings
 * about other nodes are neither stored nor reported. */
void ald_finding_log_update(
        AldFindingLog *log, const GPtrArray *findings, AldAlertPaths *paths, const char *only, uint64_t now);

/* Handles that the clock was set forward by this much. Events that began before it was first set, in 1970,
 * are moved as well. */
void ald_finding_log_shift(AldFindingLog *log, uint64_t usec);

/* Returns when to update the log even if the findings do not change; absent for never. */
uint64_t ald_finding_log_due(const AldFindingLog *log);

/* Return the number of findings that are not kept, since there are too many; and the number of beginnings so
 * far that were not reported one by one. */
guint ald_finding_log_left_out(const AldFindingLog *log);
uint64_t ald_finding_log_withheld(const AldFindingLog *log);

/* Ends silences whose time is over. */
void ald_finding_log_expire(AldFindingLog *log, uint64_t now);

/* Return the errors of ald_silences_add() or ald_silences_remove(), or -EIO if the file cannot be written.
 * Nothing changes on error. */
int ald_finding_log_silence(AldFindingLog *log, const AldSilenceRow *row, uint64_t now);
int ald_finding_log_unsilence(AldFindingLog *log, const char *node, const char *peer, uint64_t now);
const AldSilences *ald_finding_log_silences(const AldFindingLog *log);

/* Writes all changes to the files. */
void ald_finding_log_save(AldFindingLog *log);

/* Parses the row of an event of the history, and adds what was omitted because of its length. Returns a new
 * block, or NULL if the text is not readable. */
AldFindingRow *ald_finding_log_row(const char *text);
