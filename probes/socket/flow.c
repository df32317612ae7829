/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/mman.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/common/fd.h"
#include "probes/socket/flow.h"
#include "probes/socket/load.h"
#include "probes/socket/pace.h"
#include "probes/socket/traffic.h"

#define QUICK_NS (ALD_NSEC_PER_MSEC / 5) /* to read the counters, unless another process ran meanwhile */
#define READ_TRIES 4u

int ald_flow_init(AldFlow *flow, bool sending, bool zerocopy, uint64_t bytes_max)
{
        *flow = (AldFlow){ .sending = sending, .zerocopy = zerocopy };
        flow->shared.bytes_max = bytes_max;
        if (!sending)
                return 0;
        /* Its own pages: the device may still read what is sent without a copy after they are unmapped. */
        flow->shared.chunk = mmap(
                NULL, ALD_STREAM_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (flow->shared.chunk == MAP_FAILED) {
                flow->shared.chunk = NULL;
                return -errno;
        }
        return ald_stream_make_up(flow->shared.chunk, ALD_STREAM_CHUNK);
}

int ald_flow_add(AldFlow *flow, int fd, uint64_t offset)
{
        int r = flow->n < ALD_FLOW_STREAMS_MAX ? 0 : -ENOSPC;

        if (r >= 0)
                r = ald_stream_start(&flow->streams[flow->n], fd, flow->sending, &flow->shared);
        if (r < 0) {
                close(fd);
                return r;
        }
        ald_tcp_congestion_get(fd, flow->congestion);
        if (flow->n == 0)
                flow->past.when = ald_now();
        flow->past.run[flow->n] = 0;
        flow->past.info[flow->n] = (AldTcpInfo){};
        flow->offsets[flow->n++] = offset;
        return 0;
}

/* Adds what one connection has moved. Returns the number of segments that it sent again. */
static uint64_t add_moved(const AldFlow *flow, unsigned i, AldTransferCounters *moved)
{
        uint64_t offset = flow->offsets[i], bytes;
        AldTcpInfo info = {};

        (void) ald_tcp_info_get(flow->streams[i].fd, &info);
        bytes = flow->sending ? info.bytes_acked : info.bytes_received;
        moved->bytes += bytes - MIN(bytes, offset);
        /* The bytes before the offset came in one segment. */
        moved->segments += info.segments_in - (offset > 0 && info.segments_in > 0);
        moved->segment = MAX(moved->segment, info.segment_in);
        return info.retransmits;
}

static uint64_t wire_bytes_of(const AldFlow *flow, unsigned i)
{
        AldTcpInfo info = {};

        (void) ald_tcp_info_get(flow->streams[i].fd, &info);
        return ald_traffic_of(&info, flow->sending);
}

void ald_flow_keep(AldFlow *flow, unsigned n)
{
        while (flow->n > n) {
                flow->n--;
                flow->wire_bytes += wire_bytes_of(flow, flow->n);
                flow->retransmits += add_moved(flow, flow->n, &flow->kept);
                ald_stream_stop(&flow->streams[flow->n]);
        }
}

AldTransferCounters ald_flow_moved(const AldFlow *flow)
{
        uint64_t quickest = UINT64_MAX;
        AldTransferCounters ret = {};

        for (unsigned try = 0; try < READ_TRIES && quickest > QUICK_NS; try++) {
                AldTransferCounters moved = flow->kept;
                uint64_t begin = ald_now(), took;

                for (unsigned i = 0; i < flow->n; i++)
                        (void) add_moved(flow, i, &moved);
                took = ald_now() - begin;
                moved.when = begin + took / 2;
                if (took < quickest) {
                        quickest = took;
                        ret = moved;
                }
        }
        return ret;
}

uint64_t ald_flow_sent(const AldFlow *flow)
{
        return atomic_load(&flow->shared.sent);
}

uint64_t ald_flow_retransmits(const AldFlow *flow)
{
        uint64_t sum = flow->retransmits;
        AldTransferCounters ignored = {};

        for (unsigned i = 0; i < flow->n; i++)
                sum += add_moved(flow, i, &ignored);
        return sum;
}

uint64_t ald_flow_wire_bytes(const AldFlow *flow)
{
        uint64_t sum = flow->wire_bytes;

        for (unsigned i = 0; i < flow->n; i++)
                sum += wire_bytes_of(flow, i);
        return sum;
}

static uint64_t permille(uint64_t part, uint64_t whole)
{
        return whole > 0 ? MIN(part * 1000 / whole, 1000) : 0;
}

/* Adds what one connection did in this time (ns): each figure is the greatest of all connections. */
static void add_effort(AldFlow *flow, unsigned i, uint64_t elapsed, AldSocketEffort *effort)
{
        AldTcpInfo *old = &flow->past.info[i], info = *old;
        uint64_t run = ald_load_of_thread(atomic_load(&flow->streams[i].tid));
        uint64_t usec = elapsed / 1000, segments;

        (void) ald_tcp_info_get(flow->streams[i].fd, &info);
        effort->busy = MAX(effort->busy, permille(run - MIN(run, flow->past.run[i]), elapsed));
        effort->rwnd = MAX(effort->rwnd, permille(info.rwnd_limited - old->rwnd_limited, usec));
        effort->sndbuf = MAX(effort->sndbuf, permille(info.sndbuf_limited - old->sndbuf_limited, usec));
        effort->idle = MAX(effort->idle, 1000 - permille(info.busy - old->busy, usec));
        segments = info.segments_out - old->segments_out;
        if (segments > 0)
                effort->lost = MAX(effort->lost,
                        MIN((info.retransmits - old->retransmits) * 1000000 / segments, 1000000));
        if (info.min_rtt > 0)
                effort->standing = MAX(effort->standing, info.rtt * 1000 / info.min_rtt);
        flow->past.run[i] = run;
        *old = info;
}

bool ald_flow_effort_is_due(const AldFlow *flow, uint64_t moved, uint64_t now)
{
        uint64_t elapsed = now - MIN(flow->past.when, now);

        if (flow->n == 0 || elapsed < ALD_EFFORT_EVERY_NS)
                return false;
        return !flow->past.asked || elapsed >= ALD_EFFORT_RARELY_NS ||
               moved - MIN(flow->past.bytes, moved) >= ALD_EFFORT_BYTES;
}

void ald_flow_effort(AldFlow *flow, AldSocketEffort *ret)
{
        AldTransferCounters moved = ald_flow_moved(flow);
        uint64_t elapsed = moved.when - flow->past.when, idle = ald_load_idle();

        *ret = (AldSocketEffort){};
        for (unsigned i = 0; i < flow->n; i++)
                if (!atomic_load(&flow->streams[i].ended))
                        add_effort(flow, i, elapsed, ret);
        if (!flow->sending)
                ret->rwnd = ret->sndbuf = ret->idle = ret->lost = ret->standing = 0;
        ret->spare = (idle - MIN(idle, flow->past.idle)) * 1000 / MAX(elapsed, 1);
        if (flow->sending && flow->zerocopy && flow->past.asked &&
                (double) (moved.bytes - flow->past.bytes) * 8e9 / (double) elapsed > ALD_ZEROCOPY_RATE)
                atomic_store(&flow->shared.zerocopy, true);
        flow->past.asked = true;
        flow->past.when = moved.when;
        flow->past.bytes = moved.bytes;
        flow->past.idle = idle;
}

bool ald_flow_has_ended(const AldFlow *flow)
{
        for (unsigned i = 0; i < flow->n; i++)
                if (atomic_load(&flow->streams[i].ended))
                        return true;
        return false;
}

void ald_flow_clear(AldFlow *flow)
{
        atomic_store(&flow->shared.stop, true);
        ald_flow_keep(flow, 0);
        if (flow->shared.chunk)
                (void) munmap(flow->shared.chunk, ALD_STREAM_CHUNK);
        flow->shared.chunk = NULL;
}
