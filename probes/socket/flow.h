/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/estimate.h"
#include "probes/socket/limiter.h"
#include "probes/socket/stream.h"
#include "probes/socket/tcp-info.h"

#define ALD_FLOW_STREAMS_MAX 8u
#define ALD_ZEROCOPY_RATE 10e9 /* bits/s: above, a copy costs more than the bookkeeping */

/* One direction: its data connections, and what they have moved. To be used by one thread, not by those of
 * the connections. */
typedef struct AldFlow {
        bool sending;
        bool zerocopy; /* if it is worthwhile */
        AldStreamShared shared;
        AldStream streams[ALD_FLOW_STREAMS_MAX];
        uint64_t offsets[ALD_FLOW_STREAMS_MAX]; /* what the kernel counted before the transfer */
        unsigned n;
        AldTransferCounters kept; /* on connections that are closed */
        uint64_t retransmits;     /* the same */
        uint64_t wire_bytes;      /* the same */
        char congestion[ALD_TCP_CONGESTION_SIZE + 1];
        /* At the last ald_flow_effort(), or at the beginning. */
        struct AldFlowPast {
                bool asked;
                uint64_t when;
                uint64_t run[ALD_FLOW_STREAMS_MAX];
                AldTcpInfo info[ALD_FLOW_STREAMS_MAX];
                uint64_t bytes;
                uint64_t idle;
        } past;
} AldFlow;

/* bytes_max limits what is sent. */
int ald_flow_init(AldFlow *flow, bool sending, bool zerocopy, uint64_t bytes_max);

/* Begins to send or receive on a connection; takes fd. offset: received bytes that do not count. */
int ald_flow_add(AldFlow *flow, int fd, uint64_t offset);

/* Closes all but the n oldest connections. */
void ald_flow_keep(AldFlow *flow, unsigned n);

/* As the kernel counts it: it does not wait for threads, so the time is exact on a busy machine, too. */
AldTransferCounters ald_flow_moved(const AldFlow *flow);

/* What was handed to the kernel to send. */
uint64_t ald_flow_sent(const AldFlow *flow);
uint64_t ald_flow_retransmits(const AldFlow *flow);

/* All that its connections put on the wire in its direction, with headers and what was sent again. */
uint64_t ald_flow_wire_bytes(const AldFlow *flow);

/* Whether ald_flow_effort() is due; moved: bytes until now. */
bool ald_flow_effort_is_due(const AldFlow *flow, uint64_t moved, uint64_t now);

/* How the time since the last call was spent. */
void ald_flow_effort(AldFlow *flow, AldSocketEffort *ret);

/* Whether the other side has closed a connection. */
bool ald_flow_has_ended(const AldFlow *flow);

void ald_flow_clear(AldFlow *flow);
