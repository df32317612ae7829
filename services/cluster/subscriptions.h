/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/peer-nodes.h"

/* Subscriptions of a node; free with g_strfreev(). */

char **ald_subscriptions_to_all(const char *cluster);

/*
 * Its own topics, the presence of all nodes, and the records for peers of the nodes that it measures links
 * with, now and next; in small clusters these are all nodes. If nodes is NULL: revocation lists only.
 */
char **ald_subscriptions_to_peers(const char *cluster, const AldId *own, AldNodes *nodes, uint64_t real);

/* Everything of one node. */
char *ald_subscription_to(const char *cluster, const AldId *node);
