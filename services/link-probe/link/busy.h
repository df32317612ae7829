/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <sys/socket.h>

#include "record/schema.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/net/counters.h"

/*
 * Returns why a probe of another node must not disturb an interface or RDMA port, or NULL if it may be
 * probed: according to the counters, the traffic over it, or over the interface or port that shares its wire,
 * exceeds a tenth of its capacity. The capacity is its speed, or the best rate measured through it if that is
 * less, as with a modem behind the port. Free with g_free().
 */
char *ald_busy_reason(
        const AldCounters *counters, const AldResults *results, const AldNetwork *network, const char *name);

/* Returns the interface that has the local address of a connection; "" if it is unknown. */
const char *ald_busy_interface(const struct sockaddr_storage *local, char buffer[static IFNAMSIZ]);
