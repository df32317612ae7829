/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/* The presence of a node as put by the cluster service, not validated yet. */
typedef struct AldPresencePut {
        const char *node;
        const char *state; /* a state of Node1.Presence, "forgotten" or "hidden" */
        uint64_t since_usec;
        int64_t clock_offset_usec; /* ALD_ABSENT_INT64 if unknown */
        uint64_t announced;        /* epoch; 0 for none */
        uint64_t epoch;            /* of its records, as reported by the node; 0 if unknown */
} AldPresencePut;

/* Merges presences. Refusals are counted and logged like those of records. Returns the number of accepted
 * presences. */
size_t ald_presences_put(AldStateManager *manager, const AldPresencePut *puts, size_t n);

/* Makes the other nodes unknown from now on. Call it when the cluster service has left the bus. */
void ald_presences_set_unknown(AldStateManager *manager);
