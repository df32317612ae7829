/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * Whether records of a node are missing here: a broker drops what does not fit into the queue of a reader,
 * and says nothing. Compares the topics that arrived with the number that the node states in its heartbeats.
 */
typedef struct AldRecordGap {
        GHashTable *topics; /* hashes of those that arrived; NULL while there is none */
        uint64_t stated;    /* what was compared last */
        guint arrived;
        uint64_t since;   /* when these became different; 0: they are not */
        unsigned n_asked; /* how often the records were requested for it */
} AldRecordGap;

void ald_record_gap_clear(AldRecordGap *gap);

/* A record arrived, or its topic was cleared. */
void ald_record_gap_take(AldRecordGap *gap, const char *topic, bool is_cleared);

/*
 * Compares with the number of a heartbeat. True if the records are to be requested: if nothing has changed
 * for 30 s while there were too few, and after each request for twice as long, up to an hour, since a broker
 * may not pass on records of some kinds at all.
 */
bool ald_record_gap_state(AldRecordGap *gap, uint64_t stated, uint64_t now);
