/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * What the threads of the connections hand to the main loop. Of each topic the newest value waits, in the
 * order of first arrival; a message that was published just now and one that the broker had kept (retained)
 * are never taken for each other. Bounded: what would be too much is dropped and counted.
 */
typedef struct AldInbox AldInbox;

#define ALD_INBOX_BYTES (UINT64_C(64) * 1024 * 1024)
#define ALD_INBOX_TOPICS 200000u

typedef enum AldInboxType {
        ALD_INBOX_MESSAGE,
        ALD_INBOX_EVENT, /* never dropped, never merged */
} AldInboxType;

typedef struct AldInboxItem {
        AldInboxType type;
        void *source;     /* who put it */
        uint64_t session; /* the connection it came by; messages of different ones are not merged */
        int event;        /* of an event: what, and its words (maybe NULL) in `topic` */
        bool retained;
        const char *topic;
        const void *payload; /* NUL-terminated for safety, beyond `size` */
        size_t size;
} AldInboxItem;

/* Called in the main loop; the item is valid during the call. */
typedef void (*AldInboxTake)(const AldInboxItem *item, void *userdata);

/* The main loop is that of the default context. The limits may be 0 for the usual ones. */
AldInbox *ald_inbox_new(uint64_t max_bytes, unsigned max_topics, AldInboxTake take, void *userdata);
void ald_inbox_free(AldInbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldInbox, ald_inbox_free)

/* From any thread; everything is copied. False where the message was dropped. */
bool ald_inbox_put(AldInbox *inbox, const AldInboxItem *item);

/* From the main loop: drops all that waits from this source, which puts nothing any more. */
void ald_inbox_forget(AldInbox *inbox, void *source);

/* Messages dropped for want of room so far. */
uint64_t ald_inbox_dropped(AldInbox *inbox);
