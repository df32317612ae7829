/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "state/presence.h"
#include "state/store.h"

/*
 * The other nodes of the cluster, as far as their messages tell: whether they are there, and how they behave.
 * Their records are not held here. One node may have so many keys and send so much, and no more.
 *
 * "now" is CLOCK_MONOTONIC, "real" is CLOCK_REALTIME, in µs.
 */
typedef struct AldNodes AldNodes;

#define ALD_NODES_MAX 20000u
#define ALD_NODE_LINKS_MAX 4096u
/* Nodes that are forgotten and have not spoken: of these others tell, who may make them up. */
#define ALD_NODES_HEARSAY_MAX 4096u
/* Messages of one node that are read: so many at once, and then so many a second. All its records fit at
 * once. */
#define ALD_NODE_BURST 16384u
#define ALD_NODE_RATE 512u
/* The same of their bytes: to read a message takes time by its length, in which nobody else is heard. */
#define ALD_NODE_BURST_BYTES (UINT64_C(8) * 1024 * 1024)
#define ALD_NODE_RATE_BYTES (UINT64_C(512) * 1024)

/* A clock that differs by less is not told anew. */
#define ALD_NODE_OFFSET_USEC (250 * 1000)

typedef struct AldClusterNode {
        AldId id;
        AldNodePresence presence;
        uint64_t met;       /* when it was first heard of, in whatever way */
        uint64_t announced; /* the epoch of which its instance published all; what is older is gone */
        uint64_t epoch;     /* of the records that it sends now, as it says; 0: it has not said it */
        AldStamp newest;    /* of its records */
        AldStamp forgotten; /* what is not newer is hidden; epoch 0: it is not forgotten */
        AldStamp to_forget; /* the same, once it is offline; epoch 0: nobody asked for it */
        bool is_forgotten;
        bool forgotten_here; /* an administrator of this machine asked for it */
        bool is_hearsay;     /* nothing came under its own id */
        bool missed;         /* a record of it was left out, since it did not live, or was hidden */
        uint64_t too_new;    /* a time that was refused as too far ahead; 0: none, or asked for again since */
        uint64_t asked_again; /* when the brokers were asked for these; 0: never */

        uint64_t unknown_kinds; /* messages of kinds that only a newer version knows */
        uint64_t refused;
        char *problem;   /* why the last refused message was; NULL where none was */
        uint64_t logged; /* when a refusal last was */

        GHashTable *links; /* hashes of the keys of its links; NULL while there is none */
        uint64_t tokens, token_bytes, refilled;

        /* What the state service was last told, and whether it is to be told more. */
        bool told, told_forgotten, changed;
        AldPresenceState told_state;
        uint64_t told_since, told_announced, told_epoch;
        int64_t told_offset;
} AldClusterNode;

AldNodes *ald_nodes_new(void);
void ald_nodes_free(AldNodes *nodes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNodes, ald_nodes_free)

AldClusterNode *ald_nodes_find(AldNodes *nodes, const AldId *id);
/* The one that speaks, made where it is not there; NULL where there are too many. */
AldClusterNode *ald_nodes_get(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real);
/* The one that another node tells of; the same. */
AldClusterNode *ald_nodes_get_hearsay(AldNodes *nodes, const AldId *id, uint64_t now, uint64_t real);

/* Return TRUE to have it removed. */
typedef gboolean (*AldNodesFunc)(AldClusterNode *node, void *userdata);
void ald_nodes_foreach(AldNodes *nodes, AldNodesFunc func, void *userdata);
size_t ald_nodes_count(AldNodes *nodes);

/* Takes note of it where the state service is to be told something; true where that is new. */
bool ald_node_note_change(AldClusterNode *node);
/* It is told what holds now. */
void ald_node_note_told(AldClusterNode *node);

/* Whether the limits of this node allow one more message of `size` bytes; counts the message. */
bool ald_node_may_speak(AldClusterNode *node, size_t size, uint64_t now);
/* Whether a link may have this key. */
bool ald_node_may_have_link(AldClusterNode *node, AldKind kind, const char *key);
/* Lets go of the keys, which are learnt anew as the links are sent again. */
void ald_node_forget_links(AldClusterNode *node);

/* Whether it may be forgotten: it is offline, or all that is known of it is what brokers kept. A node that is
 * silent for a moment may not. */
bool ald_node_may_be_forgotten(const AldClusterNode *node, uint64_t now);

void ald_node_take_stamp(AldClusterNode *node, const AldStamp *stamp);
/* Whether a record of this stamp is not to be seen: of an epoch that is over, or forgotten. */
bool ald_node_hides(const AldClusterNode *node, const AldStamp *stamp);
