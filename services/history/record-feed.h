/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/recorder.h"
#include "state-client/model.h"

/* Whose records are recorded. */
typedef enum AldHistoryScope {
        ALD_HISTORY_ALL,
        ALD_HISTORY_LOCAL, /* of this node, and of the links from and to it */
        ALD_HISTORY_OFF,
} AldHistoryScope;

/* Of links in the order of their ids, the index of the first that the node measured, or of one after those;
 * and whether a link is one of them. */
guint ald_links_of(const GPtrArray *links, const char *node);
bool ald_is_link_of(const AldEntity *link, const char *node);

/*
 * Passes records of a model on to a recorder, those of nodes that are heard and within the scope. What a node
 * that is no longer heard said becomes unknown. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldRecordFeed AldRecordFeed;

/* Off at first. */
AldRecordFeed *ald_record_feed_new(AldModel *model, AldRecorder *recorder);
void ald_record_feed_free(AldRecordFeed *feed);

void ald_record_feed_set_scope(AldRecordFeed *feed, AldHistoryScope scope, int64_t now);
AldHistoryScope ald_record_feed_scope(const AldRecordFeed *feed);

/* For AldModelChanged. True if a node has become heard, or is so no longer. */
bool ald_record_feed_change(AldRecordFeed *feed, const AldChange *change, int64_t now);

/* The model is no longer kept up to date: everything is unknown, until it is again. */
void ald_record_feed_pause(AldRecordFeed *feed, int64_t now);
void ald_record_feed_resume(AldRecordFeed *feed, int64_t now);

/* Whether this node or link is within the scope; its id as in AldEntity. */
bool ald_record_feed_keeps(const AldRecordFeed *feed, const char *id);

/* Whether it is recorded at present: it is also heard. */
bool ald_record_feed_records(const AldRecordFeed *feed, const AldEntity *entity);
