/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "record/id.h"

/*
 * What the plugin of a broker reports of the nodes of which it has refused something: that they publish, or
 * keep there, more than a node may. Only brokers can publish below $SYS.
 */
#define ALD_EXCESS_TOPIC "$SYS/broker/alidade/quota"
#define ALD_EXCESS_NODES 8u

typedef struct AldExcess {
        AldId node;
        uint64_t kept_bytes, kept_topics;
        uint64_t refused; /* messages */
} AldExcess;

/* How many nodes are in a report, the worst first; 0 for what is no report. */
size_t ald_excess_read(const char *bytes, size_t n, AldExcess ret[static ALD_EXCESS_NODES]);

/* What people read about it. */
char *ald_excess_describe(const AldId *node, bool is_own);
