/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/update.h"

/*
 * The merged state: for each node one entry a kind, and the links it measured. An update touches its own
 * entry only. Of two updates of one entry the one with the greater (epoch, seq) stays, whatever the order of
 * arrival; of two with equal stamps the greater by deleted, fields and time; and none is of an older epoch
 * than its node has announced. So merging is idempotent, commutative and associative, and replays, duplicates
 * and two routes are harmless.
 *
 * No files, no bus, no clock: "now" is an argument, CLOCK_MONOTONIC in µs.
 */
typedef struct AldStore AldStore;
typedef struct AldNode AldNode;
typedef struct AldEntry AldEntry;
typedef struct AldLinkSet AldLinkSet;

#define ALD_N_NODE_KINDS ALD_KIND_LINK_SOCKET /* kinds of nodes come before those of links */

/* The greatest epoch of this node: one more still survives JSON. */
#define ALD_EPOCH_MAX ((uint64_t) ALD_INTEGER_MAX - 1)

/* What a merge looks at comes first, so that it is one cache line. */
struct AldEntry {
        AldRecord *record;
        AldStamp stamp;
        uint64_t updated_usec;
        uint64_t changed; /* CLOCK_MONOTONIC of the last change, for expiry of deletions */
        AldNode *node;
        char *key; /* behind the entry; NULL for kinds of nodes */
        AldKind kind;
        bool present;   /* whether anything ever arrived; a deleted entry is present without a record */
        bool shown;     /* whether it may be a D-Bus object or interface, within the limits */
        bool announced; /* whether it was shown at its last change; kept by who tells clients */
};

struct AldNode {
        AldId id;
        bool local;
        bool shown;
        bool bare;          /* another node without any record: what is left of it may make place */
        uint8_t n_records;  /* of kinds of nodes */
        uint8_t n_shown;    /* of these */
        uint32_t n_links;   /* that have a record */
        uint64_t heard;     /* CLOCK_MONOTONIC of the last update by the node */
        uint64_t announced; /* the epoch with which the node has sent everything; older ones are gone */
        uint64_t epoch;     /* of the records that it sends, as it says; 0 where unknown */
        AldLinkSet *links;  /* NULL where there are none; see state/link-set.h */
        AldEntry entries[ALD_N_NODE_KINDS];
        GList bare_place;
};

typedef struct AldStoreLimits {
        size_t max_shown_nodes; /* nodes that may be objects */
        size_t max_shown_bytes; /* of all that is shown, as one D-Bus message */
        size_t max_nodes;       /* those of which only deletions are left make place for others */
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

/* Merges an update from another node. Refusals: -EINVAL for a key or record that does not fit the kind, or a
 * kind that never travels; -ENOSPC where a limit is reached. Takes a reference of the record. */
int ald_store_put(AldStore *store, const AldUpdate *update, uint64_t now);

/* Stamps a record of this node and merges it. A record equal to the one before keeps its revision. */
int ald_store_put_local(AldStore *store, AldKind kind, const char *key, AldRecord *record,
        uint64_t updated_usec, uint64_t now);

/* What this machine says of a node, which may be unknown so far: a record of a kind that never travels. */
int ald_store_put_about(AldStore *store, const AldId *node, AldKind kind, AldRecord *record,
        uint64_t updated_usec, uint64_t now);

/* Nobody says any more how nodes are heard of: other nodes, and those that this one has links to, are unknown
 * since then, which is CLOCK_REALTIME in µs; one that is unknown already stays so since before. */
void ald_store_lose_presences(AldStore *store, uint64_t since_usec, uint64_t now);

/* Sets this node's epoch, which may be less than before, and stamps all its entries anew. */
void ald_store_set_epoch(AldStore *store, uint64_t epoch, uint64_t now);

/* Moves this node's epoch beyond `epoch` and stamps all its entries anew, each of which counts as changed. */
void ald_store_take_epoch(AldStore *store, uint64_t epoch, uint64_t now);

/* Another node has sent all that it has with this epoch: what is older is gone, and is known when it comes
 * again. The last word counts, also where that is less. Does nothing for a node that is not known. */
void ald_store_announce(AldStore *store, const AldId *node, uint64_t epoch);

/* The epoch of what another node sends now, as it says; 0 where that is unknown. */
void ald_store_note_epoch(AldStore *store, const AldId *node, uint64_t epoch);

/* Forgets deletions older than one duration, and nodes not heard of for the other, as source and as sink; but
 * no node that is online. */
void ald_store_expire(AldStore *store, uint64_t now, uint64_t deletion_usec, uint64_t node_usec);

/* Forgets other nodes with what they say. What others measured of them stays. */
void ald_store_forget(AldStore *store, const AldId *nodes, size_t n);
/* Deletes the links that this node measured to these. */
void ald_store_drop_own_links(AldStore *store, const AldId *nodes, size_t n, uint64_t now);

AldNode *ald_store_find_node(AldStore *store, const AldId *id);
AldNode *ald_store_local_node(AldStore *store);
AldEntry *ald_store_find(AldStore *store, const AldId *id, AldKind kind, const char *key);
/* The record of a node's kind, or NULL. */
AldRecord *ald_node_record(const AldNode *node, AldKind kind);

/* Whether this machine hears of the node. */
bool ald_node_is_online(const AldNode *node);

/* Whether what the node says enters totals, topology and findings: it is this one, online or stale. A node
 * that is offline, duplicate or unknown does not count, nor does one without a presence. */
bool ald_node_counts(const AldNode *node);

/* Whether nobody says how the node is heard of. */
bool ald_node_is_unknown(const AldNode *node);

/* Whether records are known that are newer than all that the node sends now, so that it cannot change them.
 */
bool ald_node_is_behind(const AldNode *node);

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
