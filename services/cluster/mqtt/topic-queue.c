/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/mqtt/topic-queue.h"

/* Bytes that an entry takes beyond its topic and payload: the struct, its place in the table, and the
 * overhead of malloc(). */
#define ENTRY_BYTES (sizeof(Entry) + 64)

typedef struct Entry {
        AldTopicMessage message; /* must be first: callers get a pointer to it, which frees the entry */
        GList link;
        char *payload;
        char topic[];
} Entry;

struct AldTopicQueue {
        GQueue order;
        GHashTable *by_topic; /* set of entries, except events */
        uint64_t bytes, max_bytes;
        unsigned max_entries;
        uint64_t dropped;
};

static guint hash_entry(gconstpointer key)
{
        const AldTopicMessage *message = key;

        return g_str_hash(message->topic) ^ (guint) message->group * 31u ^ (guint) message->retained;
}

static gboolean equal_entries(gconstpointer a, gconstpointer b)
{
        const AldTopicMessage *x = a, *y = b;

        return x->group == y->group && x->retained == y->retained && g_str_equal(x->topic, y->topic);
}

AldTopicQueue *ald_topic_queue_new(uint64_t max_bytes, unsigned max_entries)
{
        AldTopicQueue *queue = g_new0(AldTopicQueue, 1);

        g_queue_init(&queue->order);
        queue->by_topic = g_hash_table_new(hash_entry, equal_entries);
        queue->max_bytes = max_bytes;
        queue->max_entries = max_entries;
        return queue;
}

void ald_topic_queue_free(AldTopicQueue *queue)
{
        AldTopicMessage *message;

        if (!queue)
                return;
        while ((message = ald_topic_queue_take(queue)))
                ald_topic_message_free(message);
        g_hash_table_unref(queue->by_topic);
        g_free(queue);
}

static uint64_t entry_cost(const AldTopicMessage *message)
{
        return ENTRY_BYTES + strlen(message->topic) + message->size;
}

/* Copies the payload, and appends a NUL for callers that read text. */
static void set_payload(Entry *entry, const AldTopicMessage *message)
{
        g_free(entry->payload);
        entry->payload = g_malloc(message->size + 1);
        if (message->size > 0)
                memcpy(entry->payload, message->payload, message->size);
        entry->payload[message->size] = '\0';
        entry->message.payload = entry->payload;
        entry->message.size = message->size;
}

static void append_entry(AldTopicQueue *queue, const AldTopicMessage *message)
{
        const char *topic = message->topic ? message->topic : "";
        size_t length = strlen(topic);
        Entry *entry = g_malloc(sizeof(Entry) + length + 1);

        *entry = (Entry){ .message = *message };
        memcpy(entry->topic, topic, length + 1);
        entry->message.topic = entry->topic;
        entry->link.data = entry;
        set_payload(entry, message);
        g_queue_push_tail_link(&queue->order, &entry->link);
        queue->bytes += entry_cost(&entry->message);
        if (message->event == 0)
                g_hash_table_add(queue->by_topic, entry);
}

static void unlink_entry(AldTopicQueue *queue, Entry *entry)
{
        g_queue_unlink(&queue->order, &entry->link);
        queue->bytes -= entry_cost(&entry->message);
        if (entry->message.event == 0)
                g_hash_table_remove(queue->by_topic, entry);
}

static bool replace_payload(AldTopicQueue *queue, Entry *entry, const AldTopicMessage *message)
{
        uint64_t bytes = queue->bytes - entry->message.size + message->size;

        if (bytes > queue->max_bytes)
                return false;
        queue->bytes = bytes;
        set_payload(entry, message);
        entry->message.qos = message->qos;
        entry->message.retain = message->retain;
        return true;
}

static bool put_message(AldTopicQueue *queue, const AldTopicMessage *message)
{
        Entry *entry;

        entry = g_hash_table_lookup(queue->by_topic, message);
        if (entry)
                return replace_payload(queue, entry, message);
        if (queue->bytes + entry_cost(message) > queue->max_bytes ||
                g_hash_table_size(queue->by_topic) >= queue->max_entries)
                return false;
        append_entry(queue, message);
        return true;
}

bool ald_topic_queue_put(AldTopicQueue *queue, const AldTopicMessage *message)
{
        if (message->event != 0) {
                append_entry(queue, message);
                return true;
        }
        if (put_message(queue, message))
                return true;
        queue->dropped++;
        return false;
}

AldTopicMessage *ald_topic_queue_take(AldTopicQueue *queue)
{
        Entry *entry = g_queue_peek_head(&queue->order);

        if (!entry)
                return NULL;
        unlink_entry(queue, entry);
        return &entry->message;
}

void ald_topic_message_free(AldTopicMessage *message)
{
        Entry *entry = (Entry *) message;

        if (!entry)
                return;
        g_free(entry->payload);
        g_free(entry);
}

void ald_topic_queue_forget(AldTopicQueue *queue, const void *source)
{
        for (GList *link = queue->order.head, *next; link; link = next) {
                Entry *entry = link->data;

                next = link->next;
                if (entry->message.source == source) {
                        unlink_entry(queue, entry);
                        ald_topic_message_free(&entry->message);
                }
        }
}

bool ald_topic_queue_is_crowded(const AldTopicQueue *queue)
{
        return queue->bytes > queue->max_bytes / 2 ||
               g_hash_table_size(queue->by_topic) > queue->max_entries / 2;
}

bool ald_topic_queue_is_empty(const AldTopicQueue *queue)
{
        return g_queue_is_empty((GQueue *) &queue->order);
}

uint64_t ald_topic_queue_dropped(const AldTopicQueue *queue)
{
        return queue->dropped;
}
