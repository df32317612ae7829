/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/cluster/peers/record-gap.h"
#include "state/store/presence.h"
#include "state/store/store.h"

/*
 * The other nodes of the cluster: their presence, and how much they send. Their records are not held here.
 * The number of links and the rate of messages of each node are limited.
 *
 * "now" is CLOCK_MONOTONIC, "real" is CLOCK_REALTIME, in µs.
 */
typedef struct AldNodes AldNodes;

#define ALD_NODES_MAX 20000u
#define ALD_NODE_LINKS_MAX 4096u
/* Limit of forgotten nodes that have published nothing: only other nodes name them, and may invent them. */
#define ALD_NODES_HEARSAY_MAX 4096u
/* Limits of the messages of one node: how many are read at once, and then each second. A burst has room for
 * all its records. */
#define ALD_NODE_BURST 16384u
#define ALD_NODE_RATE 512u
/* The same limits in bytes, since reading a long message delays those of other nodes. */
#define ALD_NODE_BURST_BYTES (UINT64_C(8) * 1024 * 1024)
#define ALD_NODE_RATE_BYTES (UINT64_C(512) * 1024)

/* A smaller change of the clock offset is not reported. */
#define ALD_NODE_OFFSET_USEC (250 * 1000)

typedef struct AldClusterNode {
        AldId id;
        AldNodePresence presence;
        uint64_t first_heard; /* when it was first heard of, in whatever way */
        uint64_t announced;   /* epoch of which its instance has published all; older records are outdated */
        uint64_t epoch;       /* of the records that it sends now, by its own statement; 0: unknown */
        AldStamp newest;      /* of its records */
        AldStamp forgotten;   /* records that are not newer than this are hidden; epoch 0: not forgotten */
        AldStamp to_forget; /* takes effect as `forgotten` once the node is offline; epoch 0: not requested */
        bool is_forgotten;
        bool forgotten_here; /* at the request of an administrator of this machine */
        bool is_hearsay;     /* only named by others, never heard itself */
        bool missed; /* a record of it was skipped while it was not online or hidden, or has not arrived */
        uint64_t too_new;     /* a time refused as too far ahead; 0: none, or requested again since */
        uint64_t asked_again; /* when its records were last requested from the brokers; 0: never */

        uint64_t unknown_kinds; /* messages of kinds that only a newer version knows */
        uint64_t refused;
        char *problem;   /* why the last message was refused; NULL if none was */
        uint64_t logged; /* when a refusal was last logged */

        AldRecordGap gap;
        GHashTable *links; /* hashes of the keys of its links; NULL while there is none */
        uint64_t tokens, token_bytes, refilled;

        /* State that was last sent to the state service, and whether there is something new to send. */
        bool reported, reported_forgotten, changed;
        AldPresenceState reported_state;
        uint64_t reported_since, reported_announced, reported_epoch;
        int64_t reported_offset;
} AldClusterNode;

AldNodes *ald_nodes_new(void);
void ald_nodes_free(AldNodes *nodes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNodes, ald_nodes_free)

AldClusterNode *ald_nodes_find(AldNodes *nodes, const AldId *id);
/* Finds or creates the node that sent a message; returns NULL if there are too many. */
AldClusterNode *ald_nodes_get(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real);
/* Finds or creates a node that another one names; returns NULL if there are too many. */
AldClusterNode *ald_nodes_get_hearsay(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real);

/* Return TRUE to remove the node. */
typedef gboolean (*AldNodesFunc)(AldClusterNode *node, void *userdata);
void ald_nodes_foreach(AldNodes *nodes, AldNodesFunc func, void *userdata);

/* Notes whether there is something new to send to the state service; returns true if there was nothing
 * before. */
bool ald_node_note_change(AldClusterNode *node);
/* Takes note that the present values were sent. */
void ald_node_note_sent(AldClusterNode *node);

/* Returns whether the limits of this node allow one more message of `size` bytes, and counts the message. */
bool ald_node_may_send(AldClusterNode *node, size_t size, uint64_t now);
/* Returns whether the limits of this node allow a link with this key. */
bool ald_node_may_have_link(AldClusterNode *node, AldKind kind, const char *key);
/* Drops the keys, which are learnt again as the links are sent again. */
void ald_node_forget_links(AldClusterNode *node);

/* Returns whether the node may be forgotten: it is offline, a duplicate that has been silent for long, or
 * only retained messages of it are known. A node that is silent for a moment may not, nor a duplicate while
 * this service cannot hear it. */
bool ald_node_may_be_forgotten(const AldClusterNode *node, const AldPresenceView *view, uint64_t now);

void ald_node_take_stamp(AldClusterNode *node, const AldStamp *stamp);
/* Returns whether a record with this stamp is hidden, because its epoch is over or the node was forgotten. */
bool ald_node_hides(const AldClusterNode *node, const AldStamp *stamp);
