/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * Detects that records of a node are missing here: a broker silently drops what does not fit into the queue
 * of a subscriber. Compares the number of topics that arrived with the number that the node states in its
 * heartbeats.
 */
typedef struct AldRecordGap {
        GHashTable *topics; /* hashes of those that arrived; NULL while there is none */
        uint64_t stated;    /* the stated number at the last comparison */
        guint arrived;
        uint64_t since;   /* since when the two numbers have been different; 0: they are not */
        unsigned n_asked; /* how often the records were requested for it */
} AldRecordGap;

void ald_record_gap_clear(AldRecordGap *gap);

/* Takes note that a record arrived, or that its topic was cleared. */
void ald_record_gap_take(AldRecordGap *gap, const char *topic, bool is_cleared);

/*
 * Compares with the number in a heartbeat. Returns true if the records are to be requested: if nothing has
 * changed for 30 s while there were too few, and then after twice as long each time, up to an hour, since a
 * broker may not pass on records of some kinds at all.
 */
bool ald_record_gap_state(AldRecordGap *gap, uint64_t stated, uint64_t now);
