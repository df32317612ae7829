/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/mqtt/topic.h"
#include "services/cluster/own/publisher.h"
#include "services/cluster/peers/payload.h"

typedef struct OwnRecord {
        char *name;         /* "KIND/KEY" */
        AldUpdate update;   /* the key is the second half of the name; a reference of the record is held */
        uint64_t deleted;   /* since when it is deleted; 0: it is not */
        uint64_t published; /* when it was last published */
        uint64_t unheard_since; /* when it was first published without anything coming back */
        unsigned unheard;       /* how often it was published since any of it came back */
        unsigned reading;       /* number of the last reading of all records that contained it */
} OwnRecord;

struct AldPublisher {
        AldId node;
        char *cluster;
        GHashTable *own;   /* name → OwnRecord */
        GHashTable *stale; /* names of topics that an earlier epoch of this node left */
        AldStamp newest;
        uint64_t read_epoch; /* the newest since the reading of all records began; 0: none yet */
        uint64_t announced;
        uint64_t heard; /* when the newest message that came back was published; 0: nothing has come back */
        unsigned reading;
        bool warned_full;
        AldPublish publish;
        void *userdata;
};

static void own_record_free(gpointer data)
{
        OwnRecord *own = data;

        g_clear_pointer(&own->update.record, ald_record_unref);
        g_free(own->name);
        g_free(own);
}

AldPublisher *ald_publisher_new(const AldId *node, const char *cluster, AldPublish publish, void *userdata)
{
        AldPublisher *publisher = g_new0(AldPublisher, 1);

        publisher->node = *node;
        publisher->cluster = g_strdup(cluster);
        publisher->own = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, own_record_free);
        publisher->stale = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        publisher->publish = publish;
        publisher->userdata = userdata;
        return publisher;
}

void ald_publisher_free(AldPublisher *publisher)
{
        if (!publisher)
                return;
        g_hash_table_unref(publisher->own);
        g_hash_table_unref(publisher->stale);
        g_free(publisher->cluster);
        g_free(publisher);
}

static char *record_name(AldKind kind, const char *key)
{
        return g_strconcat(ald_kinds[kind].name, "/", key, NULL);
}

static void publish_record(AldPublisher *publisher, OwnRecord *own, uint64_t now)
{
        const AldUpdate *update = &own->update;
        g_autofree char *topic = ald_topic_of_record(
                publisher->cluster, &publisher->node, update->kind, update->key);
        g_autofree char *payload = ald_payload_write_record(update);

        own->published = now;
        if (own->unheard++ == 0)
                own->unheard_since = now;
        publisher->publish(topic, payload, ald_kinds[update->kind].qos, publisher->userdata);
}

/* Clears a topic with QoS 1 whatever its kind: if the message were lost, the record would stay forever. */
static void clear_topic(AldPublisher *publisher, const char *name)
{
        const char *key = strchr(name, '/') + 1;
        g_autofree char *kind_name = g_strndup(name, (gsize) (key - 1 - name));
        g_autofree char *topic = ald_topic_of_record(
                publisher->cluster, &publisher->node, (AldKind) ald_kind_from_name(kind_name), key);

        publisher->publish(topic, NULL, 1, publisher->userdata);
}

static OwnRecord *own_record_new(AldPublisher *publisher, char *name)
{
        OwnRecord *own = g_new0(OwnRecord, 1);

        own->name = name;
        own->update.key = strchr(name, '/') + 1;
        g_hash_table_insert(publisher->own, own->name, own);
        return own;
}

static void replace_update(OwnRecord *own, const AldUpdate *update, uint64_t now)
{
        const char *key = own->update.key;

        g_clear_pointer(&own->update.record, ald_record_unref);
        own->update = *update;
        own->update.key = key;
        if (update->record) {
                ald_record_ref(update->record);
                own->deleted = 0;
        } else if (own->deleted == 0) {
                own->deleted = now;
        }
}

static bool has_room(AldPublisher *publisher)
{
        if (g_hash_table_size(publisher->own) < ALD_PUBLISHER_OWN_MAX)
                return true;
        if (!publisher->warned_full)
                g_warning("This node has, or had, more than %u records; the others are not published",
                        ALD_PUBLISHER_OWN_MAX);
        publisher->warned_full = true;
        return false;
}

void ald_publisher_put(AldPublisher *publisher, const AldUpdate *update, uint64_t now)
{
        g_autofree char *name = NULL;
        OwnRecord *own;

        if (ald_kinds[update->kind].local || !ald_id_equal(&update->node, &publisher->node))
                return;
        publisher->read_epoch = MAX(publisher->read_epoch, update->stamp.epoch);
        name = record_name(update->kind, update->key);
        own = g_hash_table_lookup(publisher->own, name);
        if (!own && !has_room(publisher))
                return;
        if (!own)
                own = own_record_new(publisher, g_steal_pointer(&name));
        own->reading = publisher->reading;
        if (ald_stamp_compare(&update->stamp, &own->update.stamp) <= 0)
                return;
        replace_update(own, update, now);
        if (ald_stamp_compare(&update->stamp, &publisher->newest) > 0)
                publisher->newest = update->stamp;
        g_hash_table_remove(publisher->stale, own->name);
        publish_record(publisher, own, now);
}

void ald_publisher_begin(AldPublisher *publisher)
{
        publisher->reading++;
        publisher->read_epoch = 0;
}

bool ald_publisher_is_behind(const AldPublisher *publisher)
{
        return publisher->read_epoch != 0 && publisher->read_epoch < publisher->newest.epoch;
}

void ald_publisher_accept_older_epoch(AldPublisher *publisher)
{
        GHashTableIter iter;
        gpointer name;

        g_hash_table_iter_init(&iter, publisher->own);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                if (g_hash_table_size(publisher->stale) < ALD_PUBLISHER_STALE_MAX)
                        g_hash_table_add(publisher->stale, g_strdup(name));
        g_hash_table_remove_all(publisher->own);
        publisher->newest = (AldStamp){ 0 };
        publisher->announced = 0;
}

/* Returns whether a record was missing from the last reading. Records of an earlier epoch do not count as
 * missing: they may come back from a source that the state service has not read yet. */
static gboolean is_gone(gpointer key, gpointer value, gpointer userdata)
{
        const AldPublisher *publisher = userdata;
        const OwnRecord *own = value;

        return own->update.stamp.epoch == publisher->newest.epoch && own->reading != publisher->reading;
}

static gboolean is_of_earlier_epoch(gpointer key, gpointer value, gpointer userdata)
{
        const AldPublisher *publisher = userdata;
        const OwnRecord *own = value;

        return own->update.stamp.epoch < publisher->newest.epoch;
}

/* Clears and forgets the topics of the table for which `is_over` is NULL or returns true. */
static void clear_matching(AldPublisher *publisher, GHashTable *table, GHRFunc is_over)
{
        GHashTableIter iter;
        gpointer name, value;

        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &name, &value)) {
                if (is_over && !is_over(name, value, publisher))
                        continue;
                clear_topic(publisher, name);
                g_hash_table_iter_remove(&iter);
        }
}

void ald_publisher_end(AldPublisher *publisher)
{
        if (publisher->read_epoch == publisher->newest.epoch)
                clear_matching(publisher, publisher->own, is_gone);
}

void ald_publisher_publish_all(AldPublisher *publisher, uint64_t now)
{
        GHashTableIter iter;
        gpointer value;

        publisher->heard = 0;
        g_hash_table_iter_init(&iter, publisher->own);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                OwnRecord *own = value;

                own->unheard = 0;
                publish_record(publisher, own, now);
        }
}

void ald_publisher_heard(AldPublisher *publisher, const AldUpdate *update)
{
        g_autofree char *name = record_name(update->kind, update->key);
        OwnRecord *own = g_hash_table_lookup(publisher->own, name);
        int r = own ? ald_stamp_compare(&update->stamp, &own->update.stamp) : 1;

        if (r > 0)
                return;
        own->unheard = 0;
        if (r == 0)
                publisher->heard = MAX(publisher->heard, own->published);
}

char *ald_publisher_unheard_kinds(const AldPublisher *publisher)
{
        const char *names[ALD_N_KINDS + 1] = { NULL };
        bool unheard[ALD_N_KINDS] = { false };
        GHashTableIter iter;
        gpointer value;
        size_t n = 0;

        g_hash_table_iter_init(&iter, publisher->own);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const OwnRecord *own = value;

                /* A single message may get lost on its way back, and one of QoS 0 more easily; the kinds of
                 * QoS 0 are named in the rules of every version. */
                if (own->unheard > 1 && ald_kinds[own->update.kind].qos > 0 &&
                        own->unheard_since + ALD_PUBLISHER_UNHEARD_USEC <= publisher->heard)
                        unheard[own->update.kind] = true;
        }
        for (unsigned kind = 0; kind < ALD_N_KINDS; kind++)
                if (unheard[kind])
                        names[n++] = ald_kinds[kind].name;
        return n > 0 ? g_strjoinv(", ", (char **) names) : NULL;
}

void ald_publisher_expire(AldPublisher *publisher, uint64_t now, uint64_t expiry_usec)
{
        GHashTableIter iter;
        gpointer name, value;

        g_hash_table_iter_init(&iter, publisher->own);
        while (g_hash_table_iter_next(&iter, &name, &value)) {
                const OwnRecord *own = value;

                if (own->deleted == 0 || now - own->deleted < expiry_usec)
                        continue;
                clear_topic(publisher, name);
                g_hash_table_iter_remove(&iter);
        }
}

void ald_publisher_found(AldPublisher *publisher, AldKind kind, const char *key, uint64_t epoch)
{
        g_autofree char *name = record_name(kind, key);

        if (epoch > publisher->newest.epoch || g_hash_table_contains(publisher->own, name))
                return;
        if (publisher->announced == publisher->newest.epoch)
                clear_topic(publisher, name);
        else if (g_hash_table_size(publisher->stale) < ALD_PUBLISHER_STALE_MAX)
                g_hash_table_add(publisher->stale, g_steal_pointer(&name));
}

void ald_publisher_announced(AldPublisher *publisher, uint64_t epoch)
{
        publisher->announced = epoch;
        if (epoch != publisher->newest.epoch)
                return;
        clear_matching(publisher, publisher->own, is_of_earlier_epoch);
        clear_matching(publisher, publisher->stale, NULL);
}

uint64_t ald_publisher_epoch(const AldPublisher *publisher)
{
        return publisher->newest.epoch;
}

uint64_t ald_publisher_seq(const AldPublisher *publisher)
{
        return publisher->newest.seq;
}

size_t ald_publisher_count(const AldPublisher *publisher)
{
        return g_hash_table_size(publisher->own);
}
