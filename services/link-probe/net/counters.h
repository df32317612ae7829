/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "record/schema.h"

/* The RDMA ports of this machine in sysfs, and their counters. The counters of the network interface behind a
 * port do not include the traffic that an adapter offloads. */

#define ALD_PORT_NAME_SIZE 72u /* such as "mlx5_0.1" */

typedef struct AldPortCounters {
        char name[ALD_PORT_NAME_SIZE];
        char interface[16];       /* the network interface behind it; may be empty */
        uint64_t bits_per_second; /* its speed; may be absent */
        uint64_t received, sent;  /* bytes; both absent if it has no counters, as with software devices */
} AldPortCounters;

#define ALD_PORTS_MAX 256u

/* Returns whether this is a valid name of a port, and thus safe in a path. */
bool ald_port_name_ok(const char *name);

/*
 * The traffic on the interfaces and RDMA ports of this machine, by their counters, and which of them a probe
 * uses. While a probe uses one, and until the counters have been read again afterwards, its traffic is
 * unknown. A name is one of an interface or of a port.
 */
typedef struct AldCounters AldCounters;

/* Reads proc/net/dev and sys/class/infiniband below the root. */
AldCounters *ald_counters_new(int root);
void ald_counters_free(AldCounters *counters);

/* Reads the counters; rates are averages since the last reading. The time is CLOCK_MONOTONIC in µs. */
void ald_counters_read(AldCounters *counters, uint64_t now_usec);

/* Returns the bits per second of the busier direction, or absent. */
uint64_t ald_counters_rate(const AldCounters *counters, const char *name);

/*
 * The number of errors and dropped packets of an interface since ald_counters_reset_errors(), and their share
 * of all packets, from which on the link must be measured again. Every interface drops a few packets, such as
 * those of unknown protocols. Errors between the last reading before a probe and the first one after it do
 * not count.
 */
#define ALD_COUNTERS_ERRORS_MIN 100u
#define ALD_COUNTERS_ERRORS_SHARE 1000u /* one in this many packets */
bool ald_counters_has_errors(const AldCounters *counters, const char *name);
void ald_counters_reset_errors(AldCounters *counters, const char *name);

/* Returns the number of ports at the last reading. */
unsigned ald_counters_ports(const AldCounters *counters);
const AldPortCounters *ald_counters_port(const AldCounters *counters, unsigned i);
/* Returns NULL if there is no port of this name. */
const AldPortCounters *ald_counters_find_port(const AldCounters *counters, const char *name);

/* Marks an interface or port as used by a probe. Returns -EBUSY if a probe uses it, or something on the same
 * wire: the interface of a port, or another interface according to the network (may be NULL). */
int ald_counters_occupy(AldCounters *counters, const AldNetwork *network, const char *name);
bool ald_counters_is_occupied(const AldCounters *counters, const AldNetwork *network, const char *name);
/* Releases everything that was occupied under this name. */
void ald_counters_release(AldCounters *counters, const char *name);

/* Returns the known rates, uint64_t by name; UINT64_MAX if a probe uses it. For an interface, the rate is
 * that of its port if that is greater. */
GHashTable *ald_counters_traffic(const AldCounters *counters);
