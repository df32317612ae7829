/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/node-names.h"
#include "services/history/record-feed.h"

/*
 * Finds results that are slower than their own past (past.h), among the records of a feed: the rates of links
 * by path and direction, and the metrics of devices and file systems. A result that other work disturbed is
 * not compared; the history stores which results these are.
 */
typedef struct AldPastWatch AldPastWatch;

/* Called when the findings have changed. */
typedef void (*AldPastChanged)(void *userdata);

AldPastWatch *ald_past_watch_new(AldModel *model, AldHistory *history, const AldRecordFeed *feed,
        AldPastChanged changed, void *userdata);
void ald_past_watch_free(AldPastWatch *watch);

/* Handles a change of the model, after the feed has handled it. Results are compared later, from the main
 * loop, with the nodes that measured them taking turns; those of a node that always reports new results wait
 * (fair-queue.h). */
void ald_past_watch_change(AldPastWatch *watch, const AldChange *change);

/* Update all results of the model, or those of a node and of the links that it measured. Findings about
 * results that the feed does not record are dropped. Call the second function after the feed has noticed that
 * a node is heard, or no longer is. */
void ald_past_watch_restart(AldPastWatch *watch);
void ald_past_watch_node(AldPastWatch *watch, const char *node);

/* Returns whether results wait to be compared. */
bool ald_past_watch_is_busy(AldPastWatch *watch);

/* Returns the findings as new rows (AldFindingRow), sorted by text; free the array. */
GPtrArray *ald_past_watch_findings(const AldPastWatch *watch, const AldNodeNames *names);
