/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/outbox.h"
#include "services/common/service.h"

/*
 * The state service of this machine: its own records are read from it, in pages at first and then by signal,
 * and what is heard of other nodes is put to it.
 */
typedef struct AldStateLink AldStateLink;

#define ALD_STATE_LINK_RECORDS_MAX 256u
#define ALD_STATE_LINK_BYTES_MAX (1024u * 1024)
#define ALD_STATE_LINK_PRESENCES_MAX 1024u
/* Calls under way: one is written while the state service reads the other. */
#define ALD_STATE_LINK_PUTS_MAX 2u

typedef struct AldStateLinkHandler {
        /* All records of this node are being read; `record` is called for each, then `complete`. */
        void (*begin)(void *userdata);
        void (*record)(const AldUpdate *update, void *userdata);
        void (*complete)(void *userdata);
        /* It is there, or there anew, and knows nothing of what was put before; or it has gone. */
        void (*owner)(bool there, void *userdata);
        /* A call has come back; negative where it failed, and what it carried is lost. */
        void (*put)(int result, void *userdata);
} AldStateLinkHandler;

typedef struct AldPresenceRow {
        AldId node;
        const char *state;
        uint64_t since;
        int64_t clock_offset;
        uint64_t announced;
        uint64_t epoch; /* of its records, as it says; 0 where unknown */
} AldPresenceRow;

int ald_state_link_new(
        AldService *service, const AldStateLinkHandler *handler, void *userdata, AldStateLink **ret);
void ald_state_link_free(AldStateLink *link);

/* Reads all records of this node again, where the service is there. */
void ald_state_link_read(AldStateLink *link);

/* Puts the newest stamp that is known of this node, which it is to go beyond, and then reads all again. */
int ald_state_link_put_own(AldStateLink *link, const AldUpdate *update);

/* Whether the service is there and takes another call. */
bool ald_state_link_is_ready(AldStateLink *link);
/* Whether a call is under way. */
bool ald_state_link_is_busy(const AldStateLink *link);

/* Only while it is ready. Puts as many as go into one call; those leave the outbox. */
int ald_state_link_put_records(AldStateLink *link, AldOutbox *outbox);
/* At most ALD_STATE_LINK_PRESENCES_MAX. */
int ald_state_link_put_presences(AldStateLink *link, const AldPresenceRow *rows, size_t n);
