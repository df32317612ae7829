/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The RDMA ports of this machine, by sysfs, and what their own counters say: those of the interface behind a
 * port know nothing of what an adapter carries by itself. */

#define ALD_PORT_NAME_SIZE 72u /* "mlx5_0.1" */

typedef struct AldPortCounters {
        char name[ALD_PORT_NAME_SIZE];
        char interface[16];       /* the network interface behind it; empty: none */
        uint64_t bits_per_second; /* that it carries; maybe absent */
        uint64_t received, sent;  /* bytes; both absent where it counts nothing, as those in software */
} AldPortCounters;

/* Whether it can be the name of a port; nothing else is made part of a path. */
bool ald_port_name_ok(const char *name);

/* Of AldPortCounters, by name. There are at most so many. */
#define ALD_PORTS_MAX 256u
GArray *ald_port_counters_read(int root);
