/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/state/outbox.h"
#include "services/common/service.h"

/*
 * The connection to the state service of this machine: reads the records of this node, first in pages and
 * then by signals, and sends it what other nodes publish.
 */
typedef struct AldStateLink AldStateLink;

#define ALD_STATE_LINK_RECORDS_MAX 256u
#define ALD_STATE_LINK_BYTES_MAX (1024u * 1024)
#define ALD_STATE_LINK_PRESENCES_MAX 1024u
/* Limit of pending calls: one is written while the state service reads the other. */
#define ALD_STATE_LINK_PUTS_MAX 2u

typedef struct AldOwnRecordsHandler {
        /* All records of this node are being read; `record` is called for each, then `complete`. */
        void (*begin)(void *userdata);
        void (*record)(const AldUpdate *update, void *userdata);
        void (*complete)(void *userdata);
} AldOwnRecordsHandler;

typedef struct AldStateLinkHandler {
        /* The state service has started, and knows nothing of what was sent before; or it has stopped. */
        void (*owner)(bool there, void *userdata);
        /* A call has returned; `result` is negative if it failed and its contents are lost. */
        void (*put)(int result, void *userdata);
} AldStateLinkHandler;

typedef struct AldPresenceRow {
        AldId node;
        const char *state;
        uint64_t since;
        int64_t clock_offset;
        uint64_t announced;
        uint64_t epoch; /* of its records, by its own statement; 0 if unknown */
} AldPresenceRow;

int ald_state_link_new(AldService *service, const AldOwnRecordsHandler *own, void *own_userdata,
        const AldStateLinkHandler *handler, void *userdata, AldStateLink **ret);
void ald_state_link_free(AldStateLink *link);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStateLink, ald_state_link_free)

/* Reads all records of this node again, if the service is running. */
void ald_state_link_read(AldStateLink *link);

/* Sends the newest known stamp of this node, which the service then exceeds, and reads all records again. */
int ald_state_link_put_own(AldStateLink *link, const AldUpdate *update);

/* Returns whether the service is running and can take another call. */
bool ald_state_link_is_ready(AldStateLink *link);
/* Returns whether a call is pending. */
bool ald_state_link_is_busy(const AldStateLink *link);

/* Sends as many records as fit into one call, and removes them from the outbox. Call it only while the link
 * is ready. */
int ald_state_link_put_records(AldStateLink *link, AldOutbox *outbox);
/* Sends presences, at most ALD_STATE_LINK_PRESENCES_MAX. Call it only while the link is ready. */
int ald_state_link_put_presences(AldStateLink *link, const AldPresenceRow *rows, size_t n);
