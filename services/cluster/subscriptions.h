/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "state/id.h"

/* What a node listens to: everything, or what is its own and whether the others are there. Free with
 * g_strfreev(). */
char **ald_subscriptions(const char *cluster, const AldId *own, bool mirroring);
/* All of one node. */
char *ald_subscription_to(const char *cluster, const AldId *node);
