/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/nodes.h"

/* What a node listens to; free with g_strfreev(). */

char **ald_subscriptions_to_all(const char *cluster);

/*
 * What is its own, who else is there, and of those with whom it measures links, now and next, what that
 * takes: their names and addresses. In small clusters these are all. Nodes NULL: revocation lists alone.
 */
char **ald_subscriptions_to_peers(const char *cluster, const AldId *own, AldNodes *nodes, uint64_t real);

/* Whether records of this kind are among these. */
bool ald_subscriptions_has_kind(AldKind kind);

/* All of one node. */
char *ald_subscription_to(const char *cluster, const AldId *node);
