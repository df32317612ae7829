/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/topic-queue.h"

/*
 * What the threads of the connections hand to the main loop: a queue with a lock that wakes it. Of each topic
 * the newest value waits; the group is the connection. A few messages are taken at a time, so that nothing
 * else in the loop waits long.
 */
typedef struct AldInbox AldInbox;

#define ALD_INBOX_BYTES (UINT64_C(64) * 1024 * 1024)
#define ALD_INBOX_TOPICS 200000u

/* Called in the main loop; the message is good during the call. */
typedef void (*AldInboxTake)(const AldTopicMessage *message, void *userdata);

/* The main loop is that of the default context. */
AldInbox *ald_inbox_new(uint64_t max_bytes, unsigned max_topics, AldInboxTake take, void *userdata);
void ald_inbox_free(AldInbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldInbox, ald_inbox_free)

/* From any thread. False where the message was dropped. */
bool ald_inbox_put(AldInbox *inbox, const AldTopicMessage *message);

/* From any thread: whether to wait with more, so that nothing is dropped. */
bool ald_inbox_is_crowded(AldInbox *inbox);

/* From the main loop: drops all that waits from a source that puts nothing any more. */
void ald_inbox_forget(AldInbox *inbox, const void *source);

/* Messages dropped for want of room so far. */
uint64_t ald_inbox_dropped(AldInbox *inbox);
