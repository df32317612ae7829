/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <sys/socket.h>

#include "record/schema.h"
#include "services/link-probe/counters.h"
#include "services/link-probe/results.h"

/*
 * Why an interface or an RDMA port is not to be disturbed by a probe of another node: what goes over it by
 * its own counters, or over the one behind or before it, is more than a tenth of what it carries: its
 * speed, or the best rate that this machine or another one measured through it where that is less, as with a
 * modem behind the port. NULL where it may be. Free with g_free().
 */
char *ald_busy_reason(
        const AldCounters *counters, const AldResults *results, const AldNetwork *network, const char *name);

/* The interface that has the address of our end of a connection; "" where it is not known. */
const char *ald_busy_interface(const struct sockaddr_storage *local, char buffer[static IFNAMSIZ]);
