/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/update.h"
#include "state/store/node-sums.h"

/*
 * The merged state: for each node one entry per kind, and the links that it measured. An update touches its
 * own entry only. Of two updates of one entry, the one with the greater (epoch, seq) wins, regardless of the
 * order of arrival; with equal stamps, the greater one by deleted, fields and time. Updates of an older epoch
 * than its node has announced are not accepted. So merging is idempotent, commutative and associative, and
 * replays, duplicates and two routes are harmless.
 *
 * No files, no bus, no clock: "now" is an argument, CLOCK_MONOTONIC in µs.
 */
typedef struct AldStore AldStore;
typedef struct AldNode AldNode;
typedef struct AldEntry AldEntry;
typedef struct AldLinkSet AldLinkSet;

/* The greatest epoch of this node; one more can still be represented in JSON. */
#define ALD_EPOCH_MAX ((uint64_t) ALD_INTEGER_MAX - 1)

/* The fields that a merge reads come first, so that they share a cache line. */
struct AldEntry {
        AldRecord *record;
        AldStamp stamp;
        uint64_t updated_usec;
        uint64_t changed; /* CLOCK_MONOTONIC of the last change, for expiry of deletions */
        AldNode *node;
        char *key; /* allocated with the entry; NULL for kinds of nodes */
        AldKind kind : 8;
        bool present; /* an update has arrived; a deleted entry is present without a record */
        bool shown;   /* it is a D-Bus object or interface, within the limits */

        /* Maintained by the code that signals changes: */
        bool announced;      /* it was shown at its last change */
        uint16_t n_awaiting; /* audiences that a signal of its change waits for */
};

struct AldNode {
        AldId id;
        bool local;
        bool shown;
        bool bare;          /* another node without any record, which may be removed to make room */
        uint8_t n_records;  /* records of node kinds */
        uint8_t n_shown;    /* those that are shown */
        uint32_t n_links;   /* links that have a record */
        uint64_t heard;     /* CLOCK_MONOTONIC of the last update by the node */
        uint64_t announced; /* the epoch with which the node has sent all records; older ones were removed */
        uint64_t epoch;     /* epoch of the records that it sends, as it reports; 0 if unknown */
        AldLinkSet *links;  /* NULL if there are none; see state/store/link-set.h */
        AldNodeSums sums;
        AldEntry entries[ALD_N_NODE_KINDS];
        GList bare_place;
};

typedef struct AldStoreLimits {
        size_t max_shown_nodes; /* nodes that may be objects; one place is for this node */
        size_t max_shown_bytes; /* of everything that is shown, as one D-Bus message */
        size_t max_nodes;       /* nodes of which only deletions are left make room for others */
        size_t max_links_per_node;
        size_t max_bytes; /* of all records and links in memory; those of this node are always accepted */
} AldStoreLimits;

/* Called after each change, with the previous record, or NULL. `entry->record` is the new one. */
typedef void (*AldStoreChanged)(AldEntry *entry, AldRecord *before, void *userdata);
/* Called before an entry is removed. */
typedef void (*AldStoreRemoving)(AldEntry *entry, void *userdata);

AldStore *ald_store_new(const AldId *local, uint64_t epoch, const AldStoreLimits *limits);
void ald_store_free(AldStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStore, ald_store_free)
void ald_store_watch(AldStore *store, AldStoreChanged changed, AldStoreRemoving removing, void *userdata);

typedef enum AldPut {
        ALD_PUT_TAKEN, /* the update was applied */
        ALD_PUT_KNOWN, /* older than the present entry, or the same */
        ALD_PUT_OWN,   /* of this node, with a newer epoch than its own; nothing was changed */
} AldPut;

/* Merges an update from another node. Refusals: -EINVAL for a key or record that does not fit the kind, or a
 * kind that never travels; -ENOSPC if a limit is reached. Takes a reference of the record. */
int ald_store_put(AldStore *store, const AldUpdate *update, uint64_t now);

/*
 * With many nodes, the data that a merge reads is rarely cached, and each access depends on the one before.
 * These steps prefetch it while other work is done: if each is called some time after the one before,
 * ald_store_put() does not wait for memory. They change nothing, and any of them may be left out.
 */
typedef enum AldStoreFetch {
        ALD_STORE_FETCH_NODE,
        ALD_STORE_FETCH_LINKS,
        ALD_STORE_FETCH_ENTRY,
        ALD_STORE_FETCH_RECORD,
        ALD_STORE_FETCH_N,
} AldStoreFetch;

void ald_store_fetch(AldStore *store, const AldUpdate *update, AldStoreFetch step);

/* Stamps a record of this node and merges it. A record equal to the one before keeps its revision. */
int ald_store_put_local(AldStore *store, AldKind kind, const char *key, AldRecord *record,
        uint64_t updated_usec, uint64_t now);

/* Stores a record of a kind that never travels: what this machine knows about a node, which need not be known
 * yet. */
int ald_store_put_about(AldStore *store, const AldId *node, AldKind kind, AldRecord *record,
        uint64_t updated_usec, uint64_t now);

/* Marks presences as unknown because they are no longer reported: other nodes, and nodes that this one has
 * links to, become unknown as of `since_usec` (CLOCK_REALTIME). A node that is already unknown keeps its
 * earlier time. */
void ald_store_lose_presences(AldStore *store, uint64_t since_usec, uint64_t now);

/* Sets this node's epoch, which may be less than before, and stamps all its entries again. */
void ald_store_set_epoch(AldStore *store, uint64_t epoch, uint64_t now);

/* Moves this node's epoch beyond `epoch` and stamps all its entries again, each of which counts as
 * changed. */
void ald_store_advance_epoch(AldStore *store, uint64_t epoch, uint64_t now);

/* Notes that another node has sent all its records with this epoch: removes older ones, and refuses them if
 * they arrive again. The last announced epoch counts, even if it is lower. Does nothing for an unknown node.
 * */
void ald_store_announce(AldStore *store, const AldId *node, uint64_t epoch);

/* Notes the epoch of the records that another node sends now, as it reports; 0 if unknown. */
void ald_store_note_epoch(AldStore *store, const AldId *node, uint64_t epoch);

/* Removes deletions older than `deletion_usec`, and nodes that were not heard for the other duration, as
 * source and as sink, unless they are online. */
void ald_store_expire(AldStore *store, uint64_t now, uint64_t deletion_usec, uint64_t node_usec);

/* Removes other nodes and their records. What others have measured of them stays. */
void ald_store_forget(AldStore *store, const AldId *nodes, size_t n);
/* Deletes the links that this node measured to these. */
void ald_store_drop_own_links(AldStore *store, const AldId *nodes, size_t n, uint64_t now);

AldNode *ald_store_find_node(AldStore *store, const AldId *id);
AldNode *ald_store_local_node(AldStore *store);
AldEntry *ald_store_find(AldStore *store, const AldId *id, AldKind kind, const char *key);
/* Returns the record of this kind, or NULL, as for a node that is NULL. */
AldRecord *ald_node_record(const AldNode *node, AldKind kind);

/* Returns the contents of that record, or NULL: ald_node_as(node, NETWORK, AldNetwork). */
#define ald_node_as(node, KIND, Type) ald_record_as(ald_node_record((node), ALD_KIND_##KIND), KIND, Type)

bool ald_node_is_online(const AldNode *node);

/* Returns whether the node counts in totals, plans and findings: it is this node, online or stale. A node
 * that is offline, duplicate or unknown does not count, nor does one without a presence. */
bool ald_node_counts(const AldNode *node);

bool ald_node_is_unknown(const AldNode *node);

/* Returns whether known records of the node are newer than all that it sends now, so that it cannot change
 * them. */
bool ald_node_is_behind(const AldNode *node);

/* Returns the next present entry after (id, kind, key) in the order of these three; id NULL begins. */
AldEntry *ald_store_after(AldStore *store, const AldId *id, AldKind kind, const char *key);
/* Returns the entry of the node after this one, or the first one if it is NULL; NULL at the end. Entries of
 * node kinds come first, then links. */
AldEntry *ald_node_after(AldNode *node, const AldEntry *entry);

/* Returns an entry as an update. It borrows the key and the record. */
AldUpdate ald_entry_update(const AldEntry *entry);
/* Visits all nodes in the order of their ids. Return TRUE to stop. */
typedef gboolean (*AldNodeFunc)(AldNode *node, void *userdata);
void ald_store_foreach_node(AldStore *store, AldNodeFunc func, void *userdata);
/* Visits all links that have a record. Return TRUE to stop. */
typedef gboolean (*AldEntryFunc)(AldEntry *entry, void *userdata);
void ald_store_foreach_link(AldStore *store, AldEntryFunc func, void *userdata);

uint64_t ald_store_epoch(AldStore *store);
size_t ald_store_n_nodes(AldStore *store);
size_t ald_store_n_links(AldStore *store);
/* Returns the number of nodes and links that have records but are not shown. A node of which only links are
 * known is counted by its links. */
size_t ald_store_n_hidden(AldStore *store);
