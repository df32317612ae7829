/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/* How a node is heard of, as the cluster service puts it, before anything of it is believed. */
typedef struct AldPresencePut {
        const char *node;
        const char *state; /* a state of Node1.Presence, "forgotten" or "hidden" */
        uint64_t since_usec;
        int64_t clock_offset_usec; /* ALD_ABSENT_INT64 where unknown */
        uint64_t announced;        /* epoch; 0 for none */
        uint64_t epoch;            /* of its records, as the node says; 0 where unknown */
} AldPresencePut;

/* Refusals are counted and logged as those of records are. Returns how many were not refused. */
size_t ald_presences_put(AldStateManager *manager, const AldPresencePut *puts, size_t n);

/* Nobody says any more how nodes are heard of: the other nodes are unknown from now on. */
void ald_presences_lose(AldStateManager *manager);

/* How far ahead the clocks of most nodes are of ours; see state/clock.h. */
uint64_t ald_presences_clock_majority(AldStore *store);
