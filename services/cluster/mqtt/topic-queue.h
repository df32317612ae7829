/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Messages in the order in which their topics first arrived, with only the newest of each topic. Limited in
 * bytes and in entries. Not thread-safe: the caller locks.
 */
typedef struct AldTopicQueue AldTopicQueue;

typedef struct AldTopicMessage {
        uint64_t group; /* messages of different groups are not merged */
        bool retained;  /* received: not merged with live messages, which may differ in meaning */
        bool retain;    /* to be sent: the broker is to store it */
        int qos;
        const char *topic;
        const void *payload;
        size_t size;

        /* If not 0, this is an event instead of a message: it keeps its place, and is neither merged nor
         * dropped. */
        int event;
        uint64_t number;

        void *source;
} AldTopicMessage;

AldTopicQueue *ald_topic_queue_new(uint64_t max_bytes, unsigned max_entries);
void ald_topic_queue_free(AldTopicQueue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopicQueue, ald_topic_queue_free)

/* Queues a copy of the message. Returns false if there was no room and it was dropped; an older message of
 * the topic then stays. */
bool ald_topic_queue_put(AldTopicQueue *queue, const AldTopicMessage *message);

/* Removes and returns the first message, which the caller frees with ald_topic_message_free(). NULL if there
 * is none. */
AldTopicMessage *ald_topic_queue_take(AldTopicQueue *queue);
void ald_topic_message_free(AldTopicMessage *message);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopicMessage, ald_topic_message_free)

/* Drops all messages of this source. */
void ald_topic_queue_forget(AldTopicQueue *queue, const void *source);

/* Returns whether half of its room is used. */
bool ald_topic_queue_is_crowded(const AldTopicQueue *queue);
bool ald_topic_queue_is_empty(const AldTopicQueue *queue);
uint64_t ald_topic_queue_dropped(const AldTopicQueue *queue);
