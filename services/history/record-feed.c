/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/history/model-paths.h"
#include "services/history/record-feed.h"

#define ID_DIGITS (ALD_ID_STRING_SIZE - 1)

struct AldRecordFeed {
        AldModel *model;
        AldRecorder *recorder;
        AldHistoryScope scope;
        bool paused;
        GHashTable *unheard; /* ids of nodes */
};

AldRecordFeed *ald_record_feed_new(AldModel *model, AldRecorder *recorder)
{
        AldRecordFeed *feed = g_new(AldRecordFeed, 1);

        *feed = (AldRecordFeed){ .model = model, .recorder = recorder, .scope = ALD_HISTORY_OFF };
        feed->unheard = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return feed;
}

void ald_record_feed_free(AldRecordFeed *feed)
{
        if (!feed)
                return;
        g_hash_table_unref(feed->unheard);
        g_free(feed);
}

guint ald_links_of(const GPtrArray *links, const char *node)
{
        guint from = 0, to = links->len;

        while (from < to) {
                const guint middle = from + (to - from) / 2;

                if (strcmp(((const AldEntity *) links->pdata[middle])->id, node) < 0)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from;
}

bool ald_is_link_of(const AldEntity *link, const char *node)
{
        return strncmp(link->id, node, ID_DIGITS) == 0;
}

/* Returns the node of an entity: itself, or the source of a link. False if it is neither. */
static bool read_node(const char *id, AldId *ret, char text[static ALD_ID_STRING_SIZE])
{
        g_strlcpy(text, id, ALD_ID_STRING_SIZE);
        return ald_id_parse(text, ret) >= 0 && (id[ID_DIGITS] == '\0' || id[ID_DIGITS] == '/');
}

/* Returns the key of a link; NULL for a node. */
static const char *key_of(const char *id)
{
        return strlen(id) > ID_DIGITS ? id + ID_DIGITS + 1 : NULL;
}

/* Returns whether the sink of a link is this node. Its id is between two commas, or before the only one. */
static bool leads_to(const char *key, const char *node)
{
        const char *at = strstr(key, node);

        return at && (at == key || at[-1] == ',') && at[ID_DIGITS] == ',';
}

bool ald_record_feed_keeps(const AldRecordFeed *feed, const char *id)
{
        const char *own = ald_model_node_id(feed->model), *key = key_of(id);

        if (feed->scope != ALD_HISTORY_LOCAL)
                return feed->scope == ALD_HISTORY_ALL;
        return own && (strncmp(id, own, ID_DIGITS) == 0 || (key && leads_to(key, own)));
}

static bool is_heard(const AldRecordFeed *feed, const AldEntity *entity)
{
        char node[ALD_ID_STRING_SIZE];
        AldId id;

        return read_node(entity->id, &id, node) && !g_hash_table_contains(feed->unheard, node);
}

bool ald_record_feed_records(const AldRecordFeed *feed, const AldEntity *entity)
{
        return !feed->paused && ald_record_feed_keeps(feed, entity->id) && is_heard(feed, entity);
}

static void feed_record(AldRecordFeed *feed, const AldEntity *entity, AldRecord *record, int64_t now)
{
        char node[ALD_ID_STRING_SIZE];
        AldId id;

        /* Such a record contains what this machine knows about a node, not what the node reports. */
        if (!ald_kinds[record->kind].local && read_node(entity->id, &id, node))
                ald_recorder_take(feed->recorder, &id, key_of(entity->id), record, now);
}

static void feed_all_records(AldRecordFeed *feed, const AldEntity *entity, int64_t now)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (entity->records[kind] && ald_record_feed_records(feed, entity))
                        feed_record(feed, entity, entity->records[kind], now);
}

static void end_record(AldRecordFeed *feed, const AldEntity *entity, AldKind kind, int64_t now)
{
        char node[ALD_ID_STRING_SIZE];
        AldId id;

        if (read_node(entity->id, &id, node))
                ald_recorder_end(feed->recorder, &id, kind, key_of(entity->id), now);
}

static void end_all_records(AldRecordFeed *feed, const AldEntity *entity, int64_t now)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                end_record(feed, entity, kind, now);
}

/* Calls the function for the node and for the links that it measured. */
static void foreach_measured_by(AldRecordFeed *feed, const AldEntity *node,
        void (*function)(AldRecordFeed *feed, const AldEntity *entity, int64_t now), int64_t now)
{
        const GPtrArray *links = ald_model_links(feed->model);

        function(feed, node, now);
        for (guint i = ald_links_of(links, node->id); i < links->len; i++) {
                if (!ald_is_link_of(links->pdata[i], node->id))
                        break;
                function(feed, links->pdata[i], now);
        }
}

/* Updates whether the node is heard. Returns whether that has changed. */
static bool update_presence(AldRecordFeed *feed, const AldEntity *node, int64_t now)
{
        bool heard = ald_node_is_heard(feed->model, node);

        if (heard == !g_hash_table_contains(feed->unheard, node->id))
                return false;
        if (heard) {
                g_hash_table_remove(feed->unheard, node->id);
                foreach_measured_by(feed, node, feed_all_records, now);
        } else {
                g_hash_table_add(feed->unheard, g_strdup(node->id));
                foreach_measured_by(feed, node, end_all_records, now);
        }
        return true;
}

static void feed_model(AldRecordFeed *feed, int64_t now)
{
        const GPtrArray *nodes = ald_model_nodes(feed->model), *links = ald_model_links(feed->model);

        for (guint i = 0; i < nodes->len; i++)
                feed_all_records(feed, nodes->pdata[i], now);
        for (guint i = 0; i < links->len; i++)
                feed_all_records(feed, links->pdata[i], now);
}

void ald_record_feed_set_scope(AldRecordFeed *feed, AldHistoryScope scope, int64_t now)
{
        if (scope == feed->scope)
                return;
        ald_recorder_end_all(feed->recorder, now);
        feed->scope = scope;
        feed_model(feed, now);
}

AldHistoryScope ald_record_feed_scope(const AldRecordFeed *feed)
{
        return feed->scope;
}

bool ald_record_feed_change(AldRecordFeed *feed, const AldChange *change, int64_t now)
{
        int kind = change->entity ? ald_kind_from_name(change->kind) : -1;

        if (kind < 0)
                return false;
        if (kind == ALD_KIND_PRESENCE)
                return update_presence(feed, change->entity, now);
        if (ald_kinds[kind].local)
                return false;
        if (change->type == ALD_CHANGE_REMOVED)
                end_record(feed, change->entity, (AldKind) kind, now);
        else if (ald_record_feed_records(feed, change->entity))
                feed_record(feed, change->entity, change->entity->records[kind], now);
        return false;
}

void ald_record_feed_pause(AldRecordFeed *feed, int64_t now)
{
        if (!feed->paused)
                ald_recorder_end_all(feed->recorder, now);
        feed->paused = true;
}

void ald_record_feed_resume(AldRecordFeed *feed, int64_t now)
{
        if (!feed->paused)
                return;
        feed->paused = false;
        feed_model(feed, now);
}
