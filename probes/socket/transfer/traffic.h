/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/interface.h"
#include "probes/common/optional.h"
#include "probes/socket/transfer/tcp-info.h"

struct AldStreamGroup;

/*
 * Other traffic of an interface while one direction was measured: its counters less what the probe's own
 * connections moved.
 *
 * For a receiver, that is exact. For a sender, the kernel counts a segment as sent before the queue of the
 * interface takes it, and the interface counts it only after that. If the queue refuses a new segment, TCP
 * offers it once more, which shows in its counters. They do not show whether a segment that was sent again
 * had been dropped by this queue or further on, or whether the queue has dropped it again, since the queue
 * counts packets of unknown size from all senders. While the queue drops packets, there are therefore two
 * bounds.
 */

/* The traffic that connections of the probe handed to the interface, or received from it, with headers for
 * every segment. */
typedef struct AldWireTraffic {
        uint64_t bytes;   /* without new segments that the queue refused */
        uint64_t headers; /* of these */
        uint64_t segments;
        uint64_t again; /* of the bytes, sent again: up to as many may not have left the queue */
} AldWireTraffic;

/* The counters at one moment. Each figure grows, apart from the backlog. */
typedef struct AldTrafficSample {
        uint64_t when;    /* CLOCK_MONOTONIC in ns */
        uint64_t bytes;   /* moved by the interface */
        uint64_t packets; /* the same; UINT64_MAX: the bytes contain the headers of every segment */
        uint64_t backlog; /* bytes in the queue of the interface */
        uint64_t drops;   /* packets that the queue has dropped */
        AldWireTraffic own;
} AldTrafficSample;

/* The other traffic in a period of time. */
typedef struct AldTrafficSum {
        uint64_t elapsed; /* ns */
        double bytes;     /* the lower bound */
        double doubt;     /* difference to the upper bound */
} AldTrafficSum;

typedef struct AldTrafficCount {
        AldTrafficSample last;
        AldTrafficSum all;
        AldTrafficSum certain; /* the part of it during which the queue dropped nothing */
        double moved;          /* bytes, including those of the probe */
        uint64_t drops;
        uint64_t settled; /* time by which the losses of the last drop have been sent again */
} AldTrafficCount;

/* A lost segment is sent again within this time. */
#define ALD_TRAFFIC_SETTLE_NS (200 * UINT64_C(1000) * 1000)

/* The time without a drop represents all of it if it is at least this long, and at least one part in this
 * many. */
#define ALD_TRAFFIC_CERTAIN_NS (300 * UINT64_C(1000) * 1000)
#define ALD_TRAFFIC_CERTAIN_SHARE 4u

/* Adds the time since the last sample. */
void ald_traffic_count(AldTrafficCount *count, const AldTrafficSample *sample);

/*
 * Returns the rate in bits/s. `before` is the rate shortly before the probe loaded the interface. It decides
 * if the queue dropped packets all the time and the bounds are far apart; the result is unknown if it is
 * unknown, too.
 */
AldOptional ald_traffic_rate(const AldTrafficCount *count, AldOptional before);

typedef struct AldInterfaceTraffic {
        bool known; /* the counters could be read at the beginning */
        bool sending;
        char interface[IF_NAMESIZE];
        AldTrafficCount count;
} AldInterfaceTraffic;

/* The connections of the probe: those that are open all the time (-1 if none), and those that carry data. */
typedef struct AldTrafficSockets {
        int fds[2];
        AldWireTraffic (*data)(struct AldStreamGroup *group); /* NULL: there are none */
        struct AldStreamGroup *group;
} AldTrafficSockets;

/* Adds the traffic of one connection. */
void ald_traffic_add(AldWireTraffic *traffic, const AldTcpInfo *info, bool sending);

/* The interface may be "" or NULL if it is unknown. */
void ald_traffic_begin(
        AldInterfaceTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets);

/* Call this repeatedly, which separates the time in which the queue drops packets from the rest. */
void ald_traffic_step(AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets);

/* Returns the rate since the beginning in bits/s; `before` is as above. */
AldOptional ald_traffic_end(
        AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets, AldOptional before);
