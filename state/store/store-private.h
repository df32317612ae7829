/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/node-index.h"

/* Shared by the files store*.c. */
struct AldStore {
        AldStoreLimits limits;
        AldNode *local;
        uint64_t epoch;
        uint64_t seq;
        AldNodeIndex *nodes;
        GTree *order; /* the same nodes by id; owns them */
        GQueue bare;  /* of AldNode, through AldNode.bare_place, in the order in which they became bare */
        size_t n_links;
        size_t n_hidden_links;
        size_t n_with_records; /* nodes that may be objects */
        size_t shown_nodes;
        size_t shown_bytes;
        size_t bytes;
        AldStoreChanged changed;
        AldStoreRemoving removing;
        void *userdata;
};

/* Returns the memory of a link in addition to its record, deleted or not. */
size_t ald_store_link_bytes(const char *key);

/* Replaces the record of an entry; NULL makes the entry a deleted one. */
void ald_store_set_record(AldStore *store, AldEntry *entry, AldRecord *record);

/* Removes an entry, or a whole node. Pointers to it become invalid. */
void ald_store_forget_entry(AldStore *store, AldEntry *entry);
void ald_store_forget_node(AldStore *store, AldNode *node);
