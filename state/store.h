/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "state/id.h"
#include "state/record.h"

/*
 * The merged state: for each node one entry a kind, and the links it measured. An update touches its own
 * entry only. Of two updates of one entry the one with the greater (epoch, seq) stays, whatever the order of
 * arrival; of two with equal stamps the greater by deleted, fields and time. So merging is idempotent,
 * commutative and associative, and replays, duplicates and two routes are harmless.
 *
 * No files, no bus, no clock: "now" is an argument, CLOCK_MONOTONIC in µs.
 */
typedef struct AldStore AldStore;
typedef struct AldNode AldNode;
typedef struct AldEntry AldEntry;
typedef struct AldLinkSet AldLinkSet;

#define ALD_N_NODE_KINDS ALD_KIND_LINK_SOCKET /* kinds of nodes come before those of links */

typedef struct AldStamp {
        uint64_t epoch;
        uint64_t seq;
} AldStamp;

/* What travels between daemons. */
typedef struct AldUpdate {
        AldId node;
        AldKind kind;
        const char *key; /* "" for kinds of nodes; see state/key.h for links */
        AldStamp stamp;
        uint64_t updated_usec; /* CLOCK_REALTIME of the source */
        AldRecord *record;     /* NULL: deleted */
} AldUpdate;

/* What a merge looks at comes first, so that it is one cache line. */
struct AldEntry {
        AldRecord *record;
        AldStamp stamp;
        uint64_t updated_usec;
        uint64_t changed; /* CLOCK_MONOTONIC of the last change, for expiry of deletions */
        AldNode *node;
        char *key; /* NULL for kinds of nodes */
        AldKind kind;
        bool present; /* whether anything ever arrived; a deleted entry is present without a record */
        bool shown;   /* whether it may be a D-Bus object or interface, within the limits */

        /* For who tells clients of changes: whether they know of it, and while a change waits to be told, a
         * place in a queue and the record that they know. */
        bool announced;
        bool is_waiting;
        GList waiting;
        AldRecord *told;
};

struct AldNode {
        AldId id;
        bool local;
        bool shown;
        uint8_t n_records; /* of kinds of nodes */
        uint8_t n_shown;   /* of these */
        uint64_t heard;    /* CLOCK_MONOTONIC of the last update */
        AldEntry entries[ALD_N_NODE_KINDS];
        AldLinkSet *links; /* NULL where there are none; see state/link-set.h */
};

typedef struct AldStoreLimits {
        size_t max_shown_nodes; /* nodes that may be objects */
        size_t max_shown_bytes; /* of all that is shown, as one D-Bus message */
        size_t max_nodes;
        size_t max_links_per_node;
        size_t max_bytes; /* of all records and links in memory; those of this node always find room */
} AldStoreLimits;

/* Called after each change, with the record that was there before, or NULL. `entry->record` is the new one.
 */
typedef void (*AldStoreChanged)(AldEntry *entry, AldRecord *before, void *userdata);
/* Called before an entry is forgotten altogether. */
typedef void (*AldStoreRemoving)(AldEntry *entry, void *userdata);

AldStore *ald_store_new(const AldId *local, uint64_t epoch, const AldStoreLimits *limits);
void ald_store_free(AldStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStore, ald_store_free)
void ald_store_watch(AldStore *store, AldStoreChanged changed, AldStoreRemoving removing, void *userdata);

typedef enum AldPut {
        ALD_PUT_TAKEN, /* the entry is now as the update says */
        ALD_PUT_KNOWN, /* older than, or the same as, what is known */
        ALD_PUT_OWN,   /* of this node, with a newer epoch than its own; nothing was changed */
} AldPut;

/* Merges an update from another node. Refusals: -EINVAL for a key or record that does not fit the kind,
 * -ENOSPC where a limit is reached. Takes a reference of the record. */
int ald_store_put(AldStore *store, const AldUpdate *update, uint64_t now);

/* Stamps a record of this node and merges it. A record equal to the one before keeps its revision. */
int ald_store_put_local(AldStore *store, AldKind kind, const char *key, AldRecord *record,
        uint64_t updated_usec, uint64_t now);

/* Moves this node's epoch beyond `epoch` and stamps all its entries anew, each of which counts as changed. */
void ald_store_take_epoch(AldStore *store, uint64_t epoch, uint64_t now);

/* Forgets deletions older than one duration, and nodes not heard of for the other, as source and as sink. */
void ald_store_expire(AldStore *store, uint64_t now, uint64_t deletion_usec, uint64_t node_usec);

AldNode *ald_store_find_node(AldStore *store, const AldId *id);
AldNode *ald_store_local_node(AldStore *store);
AldEntry *ald_store_find(AldStore *store, const AldId *id, AldKind kind, const char *key);
/* The record of a node's kind, or NULL. */
AldRecord *ald_node_record(const AldNode *node, AldKind kind);

/* The next present entry after (id, kind, key) in the order of these three; id NULL begins. */
AldEntry *ald_store_after(AldStore *store, const AldId *id, AldKind kind, const char *key);
/* The first entry of the node, then the next; NULL at the end. Kinds of nodes, then links. */
AldEntry *ald_node_after(AldNode *node, const AldEntry *entry);
/* All nodes in the order of their ids. Return TRUE to stop. */
typedef gboolean (*AldNodeFunc)(AldNode *node, void *userdata);
void ald_store_foreach_node(AldStore *store, AldNodeFunc func, void *userdata);
/* All links that have a record. Return TRUE to stop. */
typedef gboolean (*AldEntryFunc)(AldEntry *entry, void *userdata);
void ald_store_foreach_link(AldStore *store, AldEntryFunc func, void *userdata);

uint64_t ald_store_epoch(AldStore *store);
size_t ald_store_n_nodes(AldStore *store);
size_t ald_store_n_links(AldStore *store);
/* Nodes and links that have records but are not shown. A node of which only links are known counts as those.
 */
size_t ald_store_n_hidden(AldStore *store);
