/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "state/schema.h"

/*
 * How busy the interfaces of this machine are with what others send over them, by their own counters, and
 * which of them a probe uses. While one does, and until they were read again after it, nothing is known of
 * their traffic.
 */
typedef struct AldCounters AldCounters;

/* Reads proc/net/dev below the root. */
AldCounters *ald_counters_new(int root);
void ald_counters_free(AldCounters *counters);

/* CLOCK_MONOTONIC in µs. Rates are those since the last reading. */
void ald_counters_read(AldCounters *counters, uint64_t now_usec);

/* Bits per second of the busier direction, or absent. */
uint64_t ald_counters_rate(const AldCounters *counters, const char *interface);

/* -EBUSY where a probe uses it. The network (maybe NULL) tells which other interface the traffic goes
 * through. */
int ald_counters_occupy(AldCounters *counters, const AldNetwork *network, const char *interface);
bool ald_counters_is_occupied(const AldCounters *counters, const AldNetwork *network, const char *interface);
/* Releases both. */
void ald_counters_release(AldCounters *counters, const char *interface);

/* Calls for each interface that is known: with UINT64_MAX for one that a probe uses. */
void ald_counters_foreach(const AldCounters *counters,
        void (*found)(const char *interface, uint64_t rate, void *userdata), void *userdata);
