/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/estimate.h"
#include "probes/socket/transfer/limiter.h"
#include "probes/socket/transfer/stream.h"
#include "probes/socket/transfer/tcp-info.h"
#include "probes/socket/transfer/traffic.h"

#define ALD_STREAM_GROUP_MAX 8u
#define ALD_ZEROCOPY_RATE 10e9 /* bits/s: above, a copy costs more than the bookkeeping */

/* The data connections of one direction, and the counters of what they have transferred. Only one thread may
 * use it, none of those of the connections. */
typedef struct AldStreamGroup {
        bool sending;
        bool zerocopy; /* if it is worthwhile */
        AldStreamShared shared;
        AldStream streams[ALD_STREAM_GROUP_MAX];
        uint64_t offsets[ALD_STREAM_GROUP_MAX]; /* bytes that the kernel counted before the transfer */
        unsigned n;
        AldTransferCounters kept;               /* on connections that are closed */
        uint64_t retransmits;                   /* the same */
        AldWireTraffic wire;                    /* the same */
        uint64_t refused[ALD_STREAM_GROUP_MAX]; /* bytes that the queue refused, as last known */
        char congestion[ALD_TCP_CONGESTION_SIZE + 1];
        /* The state at the last ald_stream_group_effort(), or at the beginning. */
        struct {
                bool measured;
                uint64_t when;
                uint64_t run[ALD_STREAM_GROUP_MAX];
                AldTcpInfo info[ALD_STREAM_GROUP_MAX];
                uint64_t bytes;
                uint64_t idle;
        } past;
} AldStreamGroup;

/* bytes_max limits the bytes that are sent. */
int ald_stream_group_init(AldStreamGroup *group, bool sending, bool zerocopy, uint64_t bytes_max);

/* Begins to send or receive on a connection, and takes ownership of fd. `offset` is the number of bytes that
 * do not count. */
int ald_stream_group_add(AldStreamGroup *group, int fd, uint64_t offset);

/* Closes all but the n oldest connections. */
void ald_stream_group_keep(AldStreamGroup *group, unsigned n);

/* Reads the counters of the kernel, which does not wait for threads, so the time is exact on a busy machine,
 * too. */
AldTransferCounters ald_stream_group_counters(const AldStreamGroup *group);

/* Returns the number of bytes that were handed to the kernel to send. */
uint64_t ald_stream_group_sent(const AldStreamGroup *group);
uint64_t ald_stream_group_retransmits(const AldStreamGroup *group);

/* Returns the bytes of the largest packets of the connections, without the link layer; 0 if unknown. */
uint64_t ald_stream_group_packet(const AldStreamGroup *group);

/* Returns the traffic that the connections put on the wire in their direction. */
AldWireTraffic ald_stream_group_wire(AldStreamGroup *group);

/* Returns whether ald_stream_group_effort() is due, given the bytes that were transferred until now. */
bool ald_stream_group_effort_is_due(const AldStreamGroup *group, uint64_t bytes, uint64_t now);

/* Finds how the time since the last call was spent. */
void ald_stream_group_effort(AldStreamGroup *group, AldSocketEffort *ret);

/* Returns whether the other side has closed a connection. */
bool ald_stream_group_has_ended(const AldStreamGroup *group);

void ald_stream_group_clear(AldStreamGroup *group);
