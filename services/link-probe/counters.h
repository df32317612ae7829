/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/schema.h"
#include "services/link-probe/port-counters.h"

/*
 * How busy the interfaces and RDMA ports of this machine are with what others send over them, by their own
 * counters, and which of them a probe uses. While one does, and until they were read again after it, nothing
 * is known of their traffic. A name is that of an interface or of a port.
 */
typedef struct AldCounters AldCounters;

/* Reads proc/net/dev and sys/class/infiniband below the root. */
AldCounters *ald_counters_new(int root);
void ald_counters_free(AldCounters *counters);

/* CLOCK_MONOTONIC in µs. Rates are those since the last reading. */
void ald_counters_read(AldCounters *counters, uint64_t now_usec);

/* Bits per second of the busier direction, or absent. */
uint64_t ald_counters_rate(const AldCounters *counters, const char *name);

/*
 * Whether an interface had so many errors or dropped packets since ald_counters_forgive(), and so large a
 * share of all packets, that the link must be measured again. Every interface drops a few packets, such as
 * those of unknown protocols. Those between the last reading before a probe and the first one after it do not
 * count.
 */
#define ALD_COUNTERS_ERRORS_MIN 100u
#define ALD_COUNTERS_ERRORS_SHARE 1000u /* one in this many packets */
bool ald_counters_has_errors(const AldCounters *counters, const char *name);
void ald_counters_forgive(AldCounters *counters, const char *name);

/* The ports there were at the last reading. */
unsigned ald_counters_ports(const AldCounters *counters);
const AldPortCounters *ald_counters_port(const AldCounters *counters, unsigned i);
/* NULL where it is none. */
const AldPortCounters *ald_counters_find_port(const AldCounters *counters, const char *name);

/* -EBUSY where a probe uses it, or what has the same wire: a port its interface, and as the network (maybe
 * NULL) tells, an interface another one. */
int ald_counters_occupy(AldCounters *counters, const AldNetwork *network, const char *name);
bool ald_counters_is_occupied(const AldCounters *counters, const AldNetwork *network, const char *name);
/* Releases all that was occupied by this name. */
void ald_counters_release(AldCounters *counters, const char *name);

/* Calls for each that is known, maybe more than once: with UINT64_MAX for one that a probe uses, and for an
 * interface also with the rate of its port. */
void ald_counters_foreach(const AldCounters *counters,
        void (*found)(const char *name, uint64_t rate, void *userdata), void *userdata);
