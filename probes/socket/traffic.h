/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/interface.h"
#include "probes/common/optional.h"
#include "probes/socket/tcp-info.h"

/*
 * What else an interface carried while one direction was measured: its counters less what the probe's own
 * connections moved. Headers are counted for every segment, though a device that segments by itself counts
 * fewer: so the figure is a little too low rather than too high.
 */
typedef struct AldTraffic {
        bool known; /* there was a counter at the beginning */
        bool sending;
        char interface[IF_NAMESIZE];
        uint64_t begun, bytes, own;
} AldTraffic;

/* What the connections of the probe that are open all the time have moved; -1 is none. */
typedef struct AldTrafficSockets {
        int fds[2];
} AldTrafficSockets;

/* Bytes on the wire of one connection, headers included. */
uint64_t ald_traffic_of(const AldTcpInfo *info, bool sending);

/* interface may be "" or NULL, where it is not known. */
void ald_traffic_begin(
        AldTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets);

/* Bits per second since then; data: what the data connections moved on the wire since then. */
AldOptional ald_traffic_end(const AldTraffic *traffic, uint64_t data, const AldTrafficSockets *sockets);
