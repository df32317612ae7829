/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * By which names of their hardware other nodes know nodes: GUIDs of RDMA devices and ports, ids of
 * Thunderbolt domains, hardware addresses. What two nodes claim is neither's, so that none takes the place of
 * another. Only this node and those that are online, or just late, count.
 */
typedef struct AldOwners AldOwners;

/* With nodes (const AldNode *): of what these claim alone, whoever else claims it too. NULL: of all. */
AldOwners *ald_owners_new(AldStore *store, const GPtrArray *nodes);
void ald_owners_free(AldOwners *owners);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOwners, ald_owners_free)

/* Whose it is, in whatever case it is spelt; NULL where it is nobody's, or more than one node's. */
const AldNode *ald_owners_find(const AldOwners *owners, const char *name);

/* Whether the node has this name for itself; so it has where it has none, or one made of zeros. */
bool ald_owners_believed(const AldOwners *owners, const AldNode *node, const char *name);

/* GUIDs and ids of domains, in lower case, that more than one node claims; hardware addresses are often
 * shared, by bridges and by containers, and are not told. The nodes (const AldNode *) in the order of their
 * ids. */
typedef void (*AldOwnersFunc)(const char *name, GPtrArray *nodes, void *userdata);
void ald_owners_foreach_contested(const AldOwners *owners, AldOwnersFunc func, void *userdata);
