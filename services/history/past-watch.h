/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/node-names.h"
#include "services/history/record-feed.h"

/*
 * Finds what is slower than its own past (past.h): the rates of links by path and direction, and the metrics
 * of compute devices, among what a feed records. A result that other work disturbed is not compared; the
 * history keeps which ones these are.
 */
typedef struct AldPastWatch AldPastWatch;

/* Called when the findings have changed. */
typedef void (*AldPastChanged)(void *userdata);

AldPastWatch *ald_past_watch_new(AldModel *model, AldHistory *history, const AldRecordFeed *feed,
        AldPastChanged changed, void *userdata);
void ald_past_watch_free(AldPastWatch *watch);

/* For AldModelChanged, after the feed has had it. Results are compared later, from the main loop, in turns of
 * the nodes that measured; those of a node that reports ever new results wait (fair-queue.h). */
void ald_past_watch_change(AldPastWatch *watch, const AldChange *change);

/* Whatever the model holds is compared; what the feed does not record is no longer found. The second form is
 * for a node, and the links that it measured, after the feed has noticed that it is heard, or no longer. */
void ald_past_watch_restart(AldPastWatch *watch);
void ald_past_watch_node(AldPastWatch *watch, const char *node);

/* Whether results wait to be compared. */
bool ald_past_watch_is_busy(AldPastWatch *watch);

/* The findings as new rows (AldFindingRow), in the order of their texts; free the array. */
GPtrArray *ald_past_watch_findings(const AldPastWatch *watch, const AldNodeNames *names);
