/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The RDMA ports of this machine in sysfs, and their counters: the counters of the network interface behind a
 * port do not include the traffic that an adapter offloads. */

#define ALD_PORT_NAME_SIZE 72u /* "mlx5_0.1" */

typedef struct AldPortCounters {
        char name[ALD_PORT_NAME_SIZE];
        char interface[16];       /* the network interface behind it; empty: none */
        uint64_t bits_per_second; /* that it carries; maybe absent */
        uint64_t received, sent;  /* bytes; both absent if it has no counters, as software devices */
} AldPortCounters;

/* Whether it is a valid name of a port, and thus safe in a path. */
bool ald_port_name_ok(const char *name);

/* Returns the AldPortCounters by name, at most ALD_PORTS_MAX. */
#define ALD_PORTS_MAX 256u
GArray *ald_port_counters_read(int root);
