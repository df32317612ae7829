/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/* What the files store*.c share. */
struct AldStore {
        AldStoreLimits limits;
        AldNode *local;
        uint64_t epoch;
        uint64_t seq;
        GHashTable *nodes; /* AldId → AldNode */
        GTree *order;      /* the same, by id */
        GQueue bare;       /* of AldNode, through AldNode.bare_place: the longest so comes first */
        size_t n_links;
        size_t n_hidden_links;
        size_t n_with_records; /* nodes that could be objects */
        size_t shown_nodes;
        size_t shown_bytes;
        size_t bytes;
        AldStoreChanged changed;
        AldStoreRemoving removing;
        void *userdata;
};

/* What a link takes beside its record, deleted or not. */
size_t ald_store_link_bytes(const char *key);

/* With record NULL the entry is one that is deleted. */
void ald_store_set_record(AldStore *store, AldEntry *entry, AldRecord *record);

/* Forgets an entry, a node altogether. What points to either is not valid afterwards. */
void ald_store_forget_entry(AldStore *store, AldEntry *entry);
void ald_store_forget_node(AldStore *store, AldNode *node);
