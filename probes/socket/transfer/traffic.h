/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/interface.h"
#include "probes/common/optional.h"
#include "probes/socket/transfer/tcp-info.h"

/*
 * What connections of the probe put on the wire, or took from it, with headers. The kernel counts a segment
 * as sent before the queue of the interface takes it, and the interface counts it only after that. TCP offers
 * a segment that the queue refuses once more without counting it as sent again; one that the queue drops
 * later is like one that is lost on the way.
 */
typedef struct AldWireTraffic {
        uint64_t bytes; /* without what the queue refused */
        uint64_t again; /* of these, what was sent again; the first time it may not have left the queue */
        uint64_t burst; /* the most that the queue drops as one packet */
} AldWireTraffic;

/*
 * Other traffic of an interface while one direction was measured: its counters less what the probe's own
 * connections moved. Headers are counted for every segment. A device that segments by itself counts fewer, so
 * the figure may be slightly too low.
 */
typedef struct AldInterfaceTraffic {
        bool known; /* the counter could be read at the beginning */
        bool sending;
        char interface[IF_NAMESIZE];
        uint64_t begun, bytes;
        uint64_t drops; /* packets that its queue has dropped */
        AldWireTraffic own;
} AldInterfaceTraffic;

/* The connections of the probe that are open all the time; -1: none. */
typedef struct AldTrafficSockets {
        int fds[2];
} AldTrafficSockets;

/* Adds what one connection moved. */
void ald_traffic_add(AldWireTraffic *traffic, const AldTcpInfo *info, bool sending);

/* Bytes of all that an interface moved that were not of the probe; drops: packets of anybody that its queue
 * dropped meanwhile. */
uint64_t ald_traffic_of_others(uint64_t all, const AldWireTraffic *own, uint64_t drops);

/* interface may be "" or NULL if unknown. */
void ald_traffic_begin(
        AldInterfaceTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets);

/* Bits per second since then; data: what the data connections moved on the wire since then. */
AldOptional ald_traffic_end(
        const AldInterfaceTraffic *traffic, const AldWireTraffic *data, const AldTrafficSockets *sockets);
