/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/topic-queue.h"

/*
 * A locked queue of messages from the threads of the connections to the main loop, which it wakes. Only the
 * newest value of each topic waits; the group is the connection. The loop takes a limited number of messages
 * at a time, so that other sources do not wait long.
 */
typedef struct AldInbox AldInbox;

#define ALD_INBOX_BYTES (UINT64_C(64) * 1024 * 1024)
#define ALD_INBOX_TOPICS 200000u

/* Called in the main loop; the message is valid during the call. */
typedef void (*AldInboxTake)(const AldTopicMessage *message, void *userdata);

/* Creates an inbox in the main loop of the default context. Returns NULL if that fails, as when there are too
 * many open files. */
AldInbox *ald_inbox_new(uint64_t max_bytes, unsigned max_topics, AldInboxTake take, void *userdata);
void ald_inbox_free(AldInbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldInbox, ald_inbox_free)

/* Queues a copy of a message, from any thread. Returns false if the message was dropped. */
bool ald_inbox_put(AldInbox *inbox, const AldTopicMessage *message);

/* Returns whether to pause, so that nothing is dropped. May be called from any thread. */
bool ald_inbox_is_crowded(AldInbox *inbox);

/* Drops all messages of a source, which must not put any more. Call it from the main loop. */
void ald_inbox_forget(AldInbox *inbox, const void *source);

/* Returns how many messages were dropped so far because the queue was full. */
uint64_t ald_inbox_dropped(AldInbox *inbox);
