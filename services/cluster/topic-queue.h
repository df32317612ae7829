/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Messages in the order in which their topics first came, with only the newest of each topic. Bounded in
 * bytes and in entries. A queue that knows nothing of threads: whoever shares it locks it.
 */
typedef struct AldTopicQueue AldTopicQueue;

typedef struct AldTopicMessage {
        uint64_t group; /* messages of different groups are not merged */
        bool retained;  /* nor are retained and live ones: each may tell what the other does not */
        int qos;
        const char *topic;
        const void *payload;
        size_t size;

        /* Not a message but an event: kept in the order, and neither merged nor dropped. */
        int event;
        uint64_t number;

        void *source;
} AldTopicMessage;

AldTopicQueue *ald_topic_queue_new(uint64_t max_bytes, unsigned max_entries);
void ald_topic_queue_free(AldTopicQueue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopicQueue, ald_topic_queue_free)

/* Copies the message. False where it was dropped for want of room; an older one of the topic then stays. */
bool ald_topic_queue_put(AldTopicQueue *queue, const AldTopicMessage *message);

/* Takes the first out: good until it is freed with ald_topic_message_free(). NULL where there is none. */
AldTopicMessage *ald_topic_queue_take(AldTopicQueue *queue);
void ald_topic_message_free(AldTopicMessage *message);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopicMessage, ald_topic_message_free)

/* Drops all of this source. */
void ald_topic_queue_forget(AldTopicQueue *queue, const void *source);

/* Half of it is taken. */
bool ald_topic_queue_is_crowded(const AldTopicQueue *queue);
bool ald_topic_queue_is_empty(const AldTopicQueue *queue);
uint64_t ald_topic_queue_dropped(const AldTopicQueue *queue);
