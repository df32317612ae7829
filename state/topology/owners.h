/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * Decides which node owns a name of hardware: GUIDs of RDMA devices and ports and ids of Thunderbolt domains,
 * which are names of devices, and hardware addresses. Only this node and nodes that are online or stale
 * count; what none of them claims may belong to another node that was given.
 *
 * Others can read all of these names, so a member may claim those of another. If several nodes claim the name
 * of a device, it belongs to the one with the fewest names of devices that others claim as well: a node that
 * claims what belongs to two others or more thus loses it. If several have as few, such as two nodes with one
 * cloned card, it belongs to none, so that a node cannot take the place of another. This depends on the
 * records alone, and is the same on every machine that has them. A hardware address that several claim
 * belongs to none, since bridges and containers often share theirs.
 */
typedef struct AldOwners AldOwners;

/* Collects the names that `nodes` (const AldNode *) claim, checked against all nodes, or with NULL all names.
 * */
AldOwners *ald_owners_new(AldStore *store, const GPtrArray *nodes);
void ald_owners_free(AldOwners *owners);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOwners, ald_owners_free)

/* Returns the owner of a device name, ignoring case; NULL if it has none. */
const AldNode *ald_owners_find(const AldOwners *owners, const char *name);

/* Returns the owner of a hardware address, likewise. */
const AldNode *ald_owners_find_address(const AldOwners *owners, const char *address);

/* Returns whether a name of a device belongs to the node; also true if the name is NULL or consists of zeros.
 * */
bool ald_owners_has(const AldOwners *owners, const AldNode *node, const char *name);

/* Called for each name of a device, in lower case, that more than one node claims, with or without an owner.
 * The nodes (const AldNode *) are in the order of their ids. */
typedef void (*AldOwnersFunc)(const char *name, GPtrArray *nodes, void *userdata);
void ald_owners_foreach_contested(const AldOwners *owners, AldOwnersFunc func, void *userdata);
