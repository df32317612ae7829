/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * An index of the nodes by id. It holds the ids itself: with many nodes, most of them are not cached, and a
 * search that compared the ids inside the nodes would wait for memory.
 */
typedef struct AldNodeIndex AldNodeIndex;

AldNodeIndex *ald_node_index_new(void);
/* Leaves the nodes to their owner. */
void ald_node_index_free(AldNodeIndex *table);

size_t ald_node_index_count(const AldNodeIndex *table);
/* Returns NULL if there is none. */
AldNode *ald_node_index_find(const AldNodeIndex *table, const AldId *id);
/* Adds a node that is not in the table yet. */
void ald_node_index_add(AldNodeIndex *table, AldNode *node);
/* Removes a node that is in the table. */
void ald_node_index_remove(AldNodeIndex *table, const AldId *id);
