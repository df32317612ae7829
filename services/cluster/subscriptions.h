/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/peer-nodes.h"

/* The topic filters to which a node subscribes; free them with g_strfreev(), or g_free() for a single one. */

char **ald_subscriptions_to_all(const char *cluster);

/*
 * Returns filters for the topics of this node, the presence of all nodes, and the records for peers of the
 * nodes with which it measures links, now and in the next period; in small clusters these are all nodes. If
 * `nodes` is NULL, of other nodes only revocation lists are included.
 */
char **ald_subscriptions_to_peers(const char *cluster, const AldId *own, AldNodes *nodes, uint64_t real);

/* Returns the filter for everything of one node. */
char *ald_subscription_to(const char *cluster, const AldId *node);
