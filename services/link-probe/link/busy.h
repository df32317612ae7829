/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <sys/socket.h>

#include "record/schema.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/net/counters.h"

/*
 * Why a probe of another node must not disturb an interface or an RDMA port: according to the counters, the
 * traffic over it, or over the interface or port that shares its wire, exceeds a tenth of its capacity. The
 * capacity is its speed, or the best rate measured through it if that is less, as with a modem behind the
 * port. NULL if it may be probed. Free with g_free().
 */
char *ald_busy_reason(
        const AldCounters *counters, const AldResults *results, const AldNetwork *network, const char *name);

/* The interface that has the address of our end of a connection; "" if it is not known. */
const char *ald_busy_interface(const struct sockaddr_storage *local, char buffer[static IFNAMSIZ]);
