/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * Which node owns a hardware name: GUIDs of RDMA devices and ports, ids of Thunderbolt domains, hardware
 * addresses. A name that two nodes claim belongs to neither, so that a node cannot take the place of another.
 * Only this node and nodes that are online or stale count; what none of them claims may belong to another
 * node that was given.
 */
typedef struct AldOwners AldOwners;

/* With `nodes` (const AldNode *): only names that these claim, checked against all nodes. NULL: all names. */
AldOwners *ald_owners_new(AldStore *store, const GPtrArray *nodes);
void ald_owners_free(AldOwners *owners);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOwners, ald_owners_free)

/* The owner of a name, ignoring case; NULL if no node or more than one claims it. */
const AldNode *ald_owners_find(const AldOwners *owners, const char *name);

/* Whether no other node claims this name; also true if the name is NULL or consists of zeros. */
bool ald_owners_is_uncontested(const AldOwners *owners, const AldNode *node, const char *name);

/* Called for each GUID and domain id, in lower case, that more than one node claims, but not for hardware
 * addresses, which bridges and containers often share. The nodes (const AldNode *) are in the order of their
 * ids. */
typedef void (*AldOwnersFunc)(const char *name, GPtrArray *nodes, void *userdata);
void ald_owners_foreach_contested(const AldOwners *owners, AldOwnersFunc func, void *userdata);
