/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "record/id.h"

/*
 * Reports of the plugin of a broker about nodes whose messages it has refused because they exceed the limits
 * of a node. Only brokers can publish below $SYS.
 */
#define ALD_EXCESS_TOPIC "$SYS/broker/alidade/quota"
#define ALD_EXCESS_NODES 8u

typedef struct AldExcess {
        AldId node;
        uint64_t kept_bytes, kept_topics;
        uint64_t refused; /* messages */
} AldExcess;

/* Returns the number of nodes in a report, the worst first; 0 if it is not a report. */
size_t ald_excess_read(const char *bytes, size_t n, AldExcess ret[static ALD_EXCESS_NODES]);

/* A description for people. */
char *ald_excess_describe(const AldId *node, bool is_own);
