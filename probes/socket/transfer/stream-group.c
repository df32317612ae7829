/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/socket/transfer/stream-group.h"
#include "probes/socket/transfer/timing.h"

#define QUICK_NS (ALD_NSEC_PER_MSEC / 5) /* for reading the counters unless another process runs */
#define READ_TRIES 4u
#define QUEUE_USEC 500u /* a round trip longer by less than this is due to busy machines, not to a queue */

int ald_stream_group_init(AldStreamGroup *group, bool sending, bool zerocopy, uint64_t bytes_max)
{
        *group = (AldStreamGroup){ .sending = sending, .zerocopy = zerocopy };
        group->shared.bytes_max = bytes_max;
        if (!sending)
                return 0;
        /* The data has its own pages, since the device may still read what is sent without a copy after they
         * are unmapped. */
        group->shared.chunk = mmap(
                NULL, ALD_STREAM_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (group->shared.chunk == MAP_FAILED) {
                group->shared.chunk = NULL;
                return -errno;
        }
        return ald_stream_fill_random(group->shared.chunk, ALD_STREAM_CHUNK);
}

int ald_stream_group_add(AldStreamGroup *group, int fd, uint64_t offset)
{
        int r = group->n < ALD_STREAM_GROUP_MAX ? 0 : -ENOSPC;

        if (r >= 0)
                r = ald_stream_start(&group->streams[group->n], fd, group->sending, &group->shared);
        if (r < 0) {
                close(fd);
                return r;
        }
        ald_tcp_congestion_get(fd, group->congestion);
        if (group->n == 0)
                group->past.when = ald_now();
        group->past.run[group->n] = 0;
        group->past.info[group->n] = (AldTcpInfo){};
        group->refused[group->n] = 0;
        group->offsets[group->n++] = offset;
        return 0;
}

/* Adds the counters of one connection. Returns the number of segments that it sent again. */
static uint64_t add_counters(const AldStreamGroup *group, unsigned i, AldTransferCounters *counters)
{
        uint64_t offset = group->offsets[i], bytes;
        AldTcpInfo info = {};

        (void) ald_tcp_info_get(group->streams[i].fd, &info);
        bytes = group->sending ? info.bytes_acked : info.bytes_received;
        counters->bytes += bytes - MIN(bytes, offset);
        /* The bytes before the offset arrived in one segment. */
        counters->segments += info.segments_in - (offset > 0 && info.segments_in > 0);
        counters->segment = MAX(counters->segment, info.segment_in);
        return info.retransmits;
}

static void add_wire(AldStreamGroup *group, unsigned i, AldWireTraffic *wire)
{
        AldTcpInfo info = {};

        (void) ald_tcp_info_get(group->streams[i].fd, &info);
        /* Data that was under way when the receiver ended the transfer had been sent nevertheless. */
        if (info.closed)
                info.refused = MIN(group->refused[i], info.bytes_sent);
        group->refused[i] = info.refused;
        ald_traffic_add(wire, &info, group->sending);
}

void ald_stream_group_keep(AldStreamGroup *group, unsigned n)
{
        while (group->n > n) {
                group->n--;
                add_wire(group, group->n, &group->wire);
                group->retransmits += add_counters(group, group->n, &group->kept);
                ald_stream_stop(&group->streams[group->n]);
        }
}

AldTransferCounters ald_stream_group_counters(const AldStreamGroup *group)
{
        uint64_t quickest = UINT64_MAX;
        AldTransferCounters ret = {};

        for (unsigned try = 0; try < READ_TRIES && quickest > QUICK_NS; try++) {
                AldTransferCounters counters = group->kept;
                uint64_t begin = ald_now(), took;

                for (unsigned i = 0; i < group->n; i++)
                        (void) add_counters(group, i, &counters);
                took = ald_now() - begin;
                counters.when = begin + took / 2;
                if (took < quickest) {
                        quickest = took;
                        ret = counters;
                }
        }
        return ret;
}

uint64_t ald_stream_group_sent(const AldStreamGroup *group)
{
        return atomic_load(&group->shared.sent);
}

uint64_t ald_stream_group_retransmits(const AldStreamGroup *group)
{
        uint64_t sum = group->retransmits;
        AldTransferCounters ignored = {};

        for (unsigned i = 0; i < group->n; i++)
                sum += add_counters(group, i, &ignored);
        return sum;
}

uint64_t ald_stream_group_packet(const AldStreamGroup *group)
{
        uint64_t packet = 0;

        for (unsigned i = 0; i < group->n; i++) {
                AldTcpInfo info = {};

                (void) ald_tcp_info_get(group->streams[i].fd, &info);
                if (info.header_bytes > 0)
                        packet = MAX(packet, info.segment_out + info.header_bytes - ALD_ETHERNET_BYTES);
        }
        return packet;
}

AldWireTraffic ald_stream_group_wire(AldStreamGroup *group)
{
        AldWireTraffic sum = group->wire;

        for (unsigned i = 0; i < group->n; i++)
                add_wire(group, i, &sum);
        return sum;
}

static ssize_t read_line(const char *path, char *buffer, size_t size)
{
        ald_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, buffer, size - 1) : -1;

        buffer[n > 0 ? n : 0] = '\0';
        return n;
}

/* Returns the time for which a thread of this process ran or waited for a processor, in ns; 0 if unknown. */
static uint64_t time_of_thread(pid_t tid)
{
        uint64_t run = 0, wait = 0;
        char path[64], line[128];

        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int) tid);
        read_line(path, line, sizeof line);
        return sscanf(line, "%" SCNu64 " %" SCNu64, &run, &wait) == 2 ? run + wait : 0;
}

/* Returns the idle time of all processors together, in ns; 0 if unknown. */
static uint64_t idle_time(void)
{
        uint64_t idle = 0, waiting = 0;
        char line[256];

        read_line("/proc/stat", line, sizeof line);
        if (sscanf(line, "cpu %*u %*u %*u %" SCNu64 " %" SCNu64, &idle, &waiting) != 2)
                return 0;
        return (idle + waiting) * (ALD_NSEC_PER_SEC / (uint64_t) sysconf(_SC_CLK_TCK));
}

static uint64_t permille(uint64_t part, uint64_t whole)
{
        return whole > 0 ? MIN(part * 1000 / whole, 1000) : 0;
}

/*
 * Adds the effort of one connection in this time (ns). Each figure is the greatest of all connections, but
 * `idle` the least, since a connection that has just begun had nothing to send before.
 */
static void add_effort(AldStreamGroup *group, unsigned i, uint64_t elapsed, AldSocketEffort *effort)
{
        AldTcpInfo *old = &group->past.info[i], info = *old;
        uint64_t run = time_of_thread(atomic_load(&group->streams[i].tid));
        uint64_t usec = elapsed / 1000, segments, again, twice;

        (void) ald_tcp_info_get(group->streams[i].fd, &info);
        effort->busy = MAX(effort->busy, permille(run - MIN(run, group->past.run[i]), elapsed));
        effort->rwnd = MAX(effort->rwnd, permille(info.rwnd_limited - old->rwnd_limited, usec));
        effort->sndbuf = MAX(effort->sndbuf, permille(info.sndbuf_limited - old->sndbuf_limited, usec));
        effort->idle = MIN(effort->idle, 1000 - permille(info.busy - old->busy, usec));
        segments = info.segments_out - old->segments_out;
        again = info.retransmits - old->retransmits;
        twice = info.duplicates - old->duplicates;
        if (segments > 0)
                effort->lost = MAX(
                        effort->lost, MIN((again - MIN(twice, again)) * 1000000 / segments, 1000000));
        if (info.min_rtt > 0)
                effort->standing = MAX(effort->standing,
                        info.rtt < info.min_rtt + QUEUE_USEC ? 1000 : info.rtt * 1000 / info.min_rtt);
        group->past.run[i] = run;
        *old = info;
}

bool ald_stream_group_effort_is_due(const AldStreamGroup *group, uint64_t bytes, uint64_t now)
{
        uint64_t elapsed = now - MIN(group->past.when, now);

        if (group->n == 0 || elapsed < ALD_EFFORT_EVERY_NS)
                return false;
        return !group->past.measured || elapsed >= ALD_EFFORT_RARELY_NS ||
               bytes - MIN(group->past.bytes, bytes) >= ALD_EFFORT_BYTES;
}

void ald_stream_group_effort(AldStreamGroup *group, AldSocketEffort *ret)
{
        AldTransferCounters counters = ald_stream_group_counters(group);
        uint64_t elapsed = counters.when - group->past.when, idle = idle_time();

        *ret = (AldSocketEffort){ .idle = 1000 };
        for (unsigned i = 0; i < group->n; i++)
                if (!atomic_load(&group->streams[i].ended))
                        add_effort(group, i, elapsed, ret);
        if (!group->sending)
                ret->rwnd = ret->sndbuf = ret->idle = ret->lost = ret->standing = 0;
        ret->spare = (idle - MIN(idle, group->past.idle)) * 1000 / MAX(elapsed, 1);
        if (group->sending && group->zerocopy && group->past.measured &&
                (double) (counters.bytes - group->past.bytes) * 8e9 / (double) elapsed > ALD_ZEROCOPY_RATE)
                atomic_store(&group->shared.zerocopy, true);
        group->past.measured = true;
        group->past.when = counters.when;
        group->past.bytes = counters.bytes;
        group->past.idle = idle;
}

bool ald_stream_group_has_ended(const AldStreamGroup *group)
{
        for (unsigned i = 0; i < group->n; i++)
                if (atomic_load(&group->streams[i].ended))
                        return true;
        return false;
}

void ald_stream_group_clear(AldStreamGroup *group)
{
        atomic_store(&group->shared.stop, true);
        ald_stream_group_keep(group, 0);
        if (group->shared.chunk)
                (void) munmap(group->shared.chunk, ALD_STREAM_CHUNK);
        group->shared.chunk = NULL;
}
