/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/interface.h"
#include "probes/common/optional.h"
#include "probes/socket/transfer/tcp-info.h"

/*
 * Other traffic of an interface while one direction was measured: its counters less what the probe's own
 * connections moved. Headers are counted for every segment. A device that segments by itself counts fewer, so
 * the figure may be slightly too low.
 */
typedef struct AldInterfaceTraffic {
        bool known; /* the counter could be read at the beginning */
        bool sending;
        char interface[IF_NAMESIZE];
        uint64_t begun, bytes, own;
} AldInterfaceTraffic;

/* The connections of the probe that are open all the time; -1: none. */
typedef struct AldTrafficSockets {
        int fds[2];
} AldTrafficSockets;

/* Bytes on the wire of one connection, headers included. */
uint64_t ald_traffic_of(const AldTcpInfo *info, bool sending);

/* interface may be "" or NULL if unknown. */
void ald_traffic_begin(
        AldInterfaceTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets);

/* Bits per second since then; data: what the data connections moved on the wire since then. */
AldOptional ald_traffic_end(
        const AldInterfaceTraffic *traffic, uint64_t data, const AldTrafficSockets *sockets);
