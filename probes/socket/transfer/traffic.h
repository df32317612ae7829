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
 * interface takes it, and the interface counts it only after that. TCP offers a new segment that the queue
 * refuses once more, which shows in its counters. They do not show whether a segment that was sent again had
 * been dropped by this queue or further on, or whether the queue has dropped it again: the queue counts
 * packets of unknown size, and of anybody. So as long as the queue drops, there are two bounds.
 */

/* What connections of the probe handed to the interface, or took from it, with headers for every segment. */
typedef struct AldWireTraffic {
        uint64_t bytes;   /* without new segments that the queue refused */
        uint64_t headers; /* of these */
        uint64_t segments;
        uint64_t again; /* of the bytes, what was sent again: as much may not have left the queue */
} AldWireTraffic;

/* What is known at one moment; each figure grows, apart from the backlog. */
typedef struct AldTrafficSample {
        uint64_t when;    /* CLOCK_MONOTONIC in ns */
        uint64_t bytes;   /* that the interface has moved */
        uint64_t packets; /* the same; UINT64_MAX: the bytes contain the headers of every segment */
        uint64_t backlog; /* bytes in the queue of the interface */
        uint64_t drops;   /* packets that the queue has dropped */
        AldWireTraffic own;
} AldTrafficSample;

/* The other traffic in some time. */
typedef struct AldTrafficSum {
        uint64_t elapsed; /* ns */
        double bytes;     /* the lower bound */
        double doubt;     /* what the upper bound has in addition */
} AldTrafficSum;

typedef struct AldTrafficCount {
        AldTrafficSample last;
        AldTrafficSum all;
        AldTrafficSum certain; /* of this, while the queue dropped nothing */
        double moved;          /* bytes, by anybody */
        uint64_t drops;
        uint64_t settled; /* when the losses of the last drop have been sent again */
} AldTrafficCount;

/* A lost segment is sent again within this time. */
#define ALD_TRAFFIC_SETTLE_NS (200 * UINT64_C(1000) * 1000)

/* The time without a drop that stands for all of it: this, and this share of it. */
#define ALD_TRAFFIC_CERTAIN_NS (300 * UINT64_C(1000) * 1000)
#define ALD_TRAFFIC_CERTAIN_SHARE 4u

/* Adds the time since the last sample. */
void ald_traffic_count(AldTrafficCount *count, const AldTrafficSample *sample);

/*
 * Bits per second. before: the same shortly before the probe loaded the interface, which decides where the
 * queue dropped all the time and the bounds are far apart. Unknown if that is unknown, too.
 */
AldOptional ald_traffic_rate(const AldTrafficCount *count, AldOptional before);

typedef struct AldInterfaceTraffic {
        bool known; /* the counters could be read at the beginning */
        bool sending;
        char interface[IF_NAMESIZE];
        AldTrafficCount count;
} AldInterfaceTraffic;

/* The connections of the probe: those that are open all the time (-1: none), and those that carry data. */
typedef struct AldTrafficSockets {
        int fds[2];
        AldWireTraffic (*data)(struct AldStreamGroup *group); /* NULL: there are none */
        struct AldStreamGroup *group;
} AldTrafficSockets;

/* Adds what one connection moved. */
void ald_traffic_add(AldWireTraffic *traffic, const AldTcpInfo *info, bool sending);

/* interface may be "" or NULL if unknown. */
void ald_traffic_begin(
        AldInterfaceTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets);

/* To be called now and then, which tells the time in which the queue drops from the rest. */
void ald_traffic_step(AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets);

/* Bits per second since the beginning; before: as above. */
AldOptional ald_traffic_end(
        AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets, AldOptional before);
