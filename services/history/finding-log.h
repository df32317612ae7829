/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/silences.h"
#include "services/history/store/history-store.h"
#include "state/alerts/alerts.h"

/*
 * Findings over time: makes alerts of them (state/alerts), keeps when each began and ended as an event of the
 * history, and notifies of them unless they are silent, or their reporter has too many (notice-limit.h).
 * alerts.json and silences.json in the state directory hold what a restart must not lose, the latter also
 * which alerts were logged and reported. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldFindingLog AldFindingLog;

typedef struct AldFindingNotice {
        bool begins;
        uint64_t event; /* absent if the history could not be written */
        uint64_t began_usec, ended_usec;
        unsigned symptoms;        /* other findings that it explains */
        const AldFindingRow *row; /* with LeftOut: so many that began are not reported one by one */
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

/* From now on the directory is ours. */
void ald_finding_log_begin(AldFindingLog *log, uint64_t now);

/* Takes all findings of now, as ald_alerts_update() does. If `only` is not NULL, those that are about other
 * nodes are neither kept nor notified of. */
void ald_finding_log_update(
        AldFindingLog *log, const GPtrArray *findings, AldAlertPaths *paths, const char *only, uint64_t now);

/* The clock was set forward by this much: what began before it was set for the first time, which cannot have
 * been in 1970, is moved as well. */
void ald_finding_log_shift(AldFindingLog *log, uint64_t usec);

/* When it is to be updated next, even if the findings stay as they are; absent: never. */
uint64_t ald_finding_log_due(const AldFindingLog *log);

/* Findings that are not kept now, since there are too many; and beginnings that were not reported one by one
 * so far. */
guint ald_finding_log_left_out(const AldFindingLog *log);
uint64_t ald_finding_log_withheld(const AldFindingLog *log);

/* Ends silences whose time is over. */
void ald_finding_log_expire(AldFindingLog *log, uint64_t now);

/* Errors of ald_silences_add(), and of writing the file; then nothing has changed. */
int ald_finding_log_silence(AldFindingLog *log, const AldSilenceRow *row, uint64_t now);
int ald_finding_log_unsilence(AldFindingLog *log, const char *node, const char *peer, uint64_t now);
const AldSilences *ald_finding_log_silences(const AldFindingLog *log);

/* Writes what has changed. */
void ald_finding_log_save(AldFindingLog *log);

/* The row of an event that the history has, complete but for what was too long: a new block. NULL if it is
 * not readable. */
AldFindingRow *ald_finding_log_row(const char *text);
