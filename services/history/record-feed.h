/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/recorder.h"
#include "state-client/model.h"

/* The nodes and links whose records are recorded. */
typedef enum AldHistoryScope {
        ALD_HISTORY_ALL,
        ALD_HISTORY_LOCAL, /* this node, and the links from and to it */
        ALD_HISTORY_OFF,
} AldHistoryScope;

/* In links sorted by id, return the index of the first link that the node measured, or where it would be; and
 * whether a link was measured by the node. */
guint ald_links_of(const GPtrArray *links, const char *node);
bool ald_is_link_of(const AldEntity *link, const char *node);

/*
 * Forwards records of a model to a recorder: those of nodes that are heard and within the scope. The series
 * of a node that is no longer heard become unknown. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldRecordFeed AldRecordFeed;

/* The scope is off at first. */
AldRecordFeed *ald_record_feed_new(AldModel *model, AldRecorder *recorder);
void ald_record_feed_free(AldRecordFeed *feed);

void ald_record_feed_set_scope(AldRecordFeed *feed, AldHistoryScope scope, int64_t now);
AldHistoryScope ald_record_feed_scope(const AldRecordFeed *feed);

/* Handles a change of the model. Returns true if a node has become heard, or no longer is. */
bool ald_record_feed_change(AldRecordFeed *feed, const AldChange *change, int64_t now);

/* Pauses while the model is not kept up to date: all series become unknown until it is resumed. */
void ald_record_feed_pause(AldRecordFeed *feed, int64_t now);
void ald_record_feed_resume(AldRecordFeed *feed, int64_t now);

/* Returns whether this node or link is within the scope; the id is as in AldEntity. */
bool ald_record_feed_keeps(const AldRecordFeed *feed, const char *id);

/* Returns whether it is recorded at present, which also requires that it is heard. */
bool ald_record_feed_records(const AldRecordFeed *feed, const AldEntity *entity);
