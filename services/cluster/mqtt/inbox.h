/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/topic-queue.h"

/*
 * Messages from the threads of the connections to the main loop: a queue with a lock, which wakes the loop.
 * Only the newest value of each topic waits; the group is the connection. The loop takes a limited number of
 * messages at a time, so that other sources do not wait long.
 */
typedef struct AldInbox AldInbox;

#define ALD_INBOX_BYTES (UINT64_C(64) * 1024 * 1024)
#define ALD_INBOX_TOPICS 200000u

/* Called in the main loop; the message is valid during the call. */
typedef void (*AldInboxTake)(const AldTopicMessage *message, void *userdata);

/* Uses the main loop of the default context. */
AldInbox *ald_inbox_new(uint64_t max_bytes, unsigned max_topics, AldInboxTake take, void *userdata);
void ald_inbox_free(AldInbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldInbox, ald_inbox_free)

/* From any thread. False if the message was dropped. */
bool ald_inbox_put(AldInbox *inbox, const AldTopicMessage *message);

/* From any thread: whether to pause, so that nothing is dropped. */
bool ald_inbox_is_crowded(AldInbox *inbox);

/* From the main loop: drops all messages of a source, which must not put any more. */
void ald_inbox_forget(AldInbox *inbox, const void *source);

/* Messages dropped so far because the queue was full. */
uint64_t ald_inbox_dropped(AldInbox *inbox);
