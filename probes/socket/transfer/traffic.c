/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/socket/transfer/traffic.h"

#define HEADERS 86u        /* bytes for Ethernet, IPv6 and TCP with timestamps, if the kernel reports none */
#define PACKET_MOST 65536u /* bytes that TCP hands over at once */
#define EVERY_NS (50 * ALD_NSEC_PER_MSEC)
#define QUICK_NS (ALD_NSEC_PER_MSEC / 2) /* for reading all counters unless another process runs */
#define READ_TRIES 4u

/* Bounds closer together than this share of what the interface moved, or of the lower bound, determine the
 * rate well enough. */
#define CLOSE_SHARE 0.02
#define CLOSE_FACTOR 0.25

void ald_traffic_add(AldWireTraffic *traffic, const AldTcpInfo *info, bool sending)
{
        uint64_t headers = info->header_bytes > 0 ? info->header_bytes : HEADERS, moved, refused, segments;

        if (sending) {
                moved = MAX(info->bytes_sent - info->refused, info->bytes_acked);
                refused = info->segment_out > 0 ? info->refused / info->segment_out : 0;
                segments = info->segments_out - MIN(refused, info->segments_out);
                if (info->segment_out > 0)
                        traffic->again += info->bytes_again + info->bytes_again / info->segment_out * headers;
        } else {
                /* bytes_received does not count duplicates. */
                moved = MAX(info->bytes_received, info->segments_in * info->segment_in);
                segments = info->all_segments_in;
        }
        traffic->segments += segments;
        traffic->headers += segments * headers;
        traffic->bytes += moved + segments * headers;
}

static AldWireTraffic sum_own(bool sending, const AldTrafficSockets *sockets)
{
        AldWireTraffic sum = sockets->data ? sockets->data(sockets->group) : (AldWireTraffic){};
        AldTcpInfo info;

        for (size_t i = 0; i < G_N_ELEMENTS(sockets->fds); i++)
                if (sockets->fds[i] >= 0 && ald_tcp_info_get(sockets->fds[i], &info) >= 0)
                        ald_traffic_add(&sum, &info, sending);
        return sum;
}

static double difference(uint64_t before, uint64_t now)
{
        return (double) now - (double) before;
}

/* Returns the bytes that the probe moved, as the interface counts them: with fewer packets than segments, it
 * has seen fewer headers. The packets include those of other traffic, so this is rather too much. */
static double own_bytes(const AldTrafficSample *before, const AldTrafficSample *now)
{
        double bytes = difference(before->own.bytes, now->own.bytes);
        double headers = difference(before->own.headers, now->own.headers);
        double segments = difference(before->own.segments, now->own.segments);
        double packets = difference(before->packets, now->packets);

        if (now->packets == UINT64_MAX || before->packets == UINT64_MAX || segments <= packets)
                return bytes;
        return bytes - headers * (1 - packets / segments);
}

static void add_to_sum(AldTrafficSum *sum, uint64_t elapsed, double bytes)
{
        sum->elapsed += elapsed;
        sum->bytes += bytes;
}

void ald_traffic_count(AldTrafficCount *count, const AldTrafficSample *sample)
{
        const AldTrafficSample *last = &count->last;
        uint64_t elapsed = sample->when - MIN(last->when, sample->when);
        /* Almost all of the backlog comes from the probe. */
        double bytes = difference(last->bytes, sample->bytes) - own_bytes(last, sample) +
                       difference(last->backlog, sample->backlog);
        uint64_t drops = sample->drops - MIN(last->drops, sample->drops);

        add_to_sum(&count->all, elapsed, bytes);
        count->moved += difference(last->bytes, sample->bytes);
        count->drops += drops;
        if (drops > 0)
                count->settled = sample->when + ALD_TRAFFIC_SETTLE_NS;
        if (last->when >= count->settled && drops == 0)
                add_to_sum(&count->certain, elapsed, bytes);
        else
                count->all.doubt += MAX(difference(last->own.again, sample->own.again), 0);
        count->last = *sample;
}

static AldOptional rate_of(double bytes, uint64_t elapsed)
{
        return (AldOptional){ true, (uint64_t) (MAX(bytes, 0) * 8e9 / (double) elapsed) };
}

AldOptional ald_traffic_rate(const AldTrafficCount *count, AldOptional before)
{
        const AldTrafficSum *all = &count->all, *certain = &count->certain;
        double doubt = MIN(all->doubt, (double) count->drops * PACKET_MOST);
        double least = MAX(all->bytes, 0), most = MAX(all->bytes + doubt, 0);

        if (all->elapsed == 0)
                return (AldOptional){};
        if (certain->elapsed == all->elapsed ||
                (certain->elapsed >= ALD_TRAFFIC_CERTAIN_NS &&
                        certain->elapsed >= all->elapsed / ALD_TRAFFIC_CERTAIN_SHARE))
                return ald_optional_max(
                        rate_of(certain->bytes, certain->elapsed), rate_of(least, all->elapsed));
        if (most - least <= MAX(CLOSE_SHARE * count->moved, CLOSE_FACTOR * least))
                return rate_of((least + most) / 2, all->elapsed);
        if (!before.known)
                return before;
        return rate_of(CLAMP((double) before.value * (double) all->elapsed / 8e9, least, most), all->elapsed);
}

/* Reads the counters of the interface. Returns 0 or a negative errno. */
static int read_interface(const AldInterfaceTraffic *traffic, AldTrafficSample *ret)
{
        AldInterfaceQueue queue = {};
        AldInterfaceBytes bytes;
        int r = traffic->sending ? ald_interface_queue(traffic->interface, &queue) : 0;

        if (r >= 0)
                r = ald_interface_bytes(traffic->interface, &bytes);
        if (r < 0)
                return r;
        *ret = (AldTrafficSample){
                .when = ald_now(),
                .bytes = queue.counts       ? queue.bytes
                         : traffic->sending ? bytes.sent
                                            : bytes.received,
                .packets = queue.counts       ? UINT64_MAX
                           : traffic->sending ? bytes.sent_packets
                                              : bytes.received_packets,
                .backlog = queue.backlog,
                .drops = queue.drops,
        };
        return 0;
}

/* Reads the counters of the interface and of the connections as close together as possible, since a process
 * that ran in between would show as traffic of others. Sets *ret_took to the time that this took (ns). */
static int read_sample(const AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets,
        AldTrafficSample *ret, uint64_t *ret_took)
{
        *ret_took = UINT64_MAX;
        for (unsigned n = 0; n < READ_TRIES; n++) {
                uint64_t begun = ald_now(), took;
                AldTrafficSample sample;
                int r = read_interface(traffic, &sample);

                if (r < 0)
                        return r;
                sample.own = sum_own(traffic->sending, sockets);
                took = ald_now() - begun;
                if (took >= *ret_took)
                        continue;
                *ret = sample;
                *ret_took = took;
                if (took <= QUICK_NS)
                        break;
        }
        return 0;
}

void ald_traffic_begin(
        AldInterfaceTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets)
{
        uint64_t took;

        *traffic = (AldInterfaceTraffic){ .sending = sending };
        g_strlcpy(traffic->interface, interface ?: "", sizeof traffic->interface);
        traffic->known = *traffic->interface &&
                         read_sample(traffic, sockets, &traffic->count.last, &took) >= 0;
}

/* Returns whether the counters of both samples are comparable. If one went back, the interface or its queue
 * was recreated. */
static bool is_continuous(const AldTrafficSample *last, const AldTrafficSample *sample)
{
        /* A queue that was added or removed counts from another start. */
        if ((sample->packets == UINT64_MAX) != (last->packets == UINT64_MAX))
                return false;
        return sample->bytes >= last->bytes && sample->drops >= last->drops;
}

static void count_sample(AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets, uint64_t took_most)
{
        AldTrafficSample sample;
        uint64_t took;

        traffic->known = read_sample(traffic, sockets, &sample, &took) >= 0 &&
                         is_continuous(&traffic->count.last, &sample);
        if (traffic->known && took <= took_most)
                ald_traffic_count(&traffic->count, &sample);
}

void ald_traffic_step(AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets)
{
        if (traffic->known && traffic->sending && ald_now() >= traffic->count.last.when + EVERY_NS)
                count_sample(traffic, sockets, QUICK_NS);
}

AldOptional ald_traffic_end(
        AldInterfaceTraffic *traffic, const AldTrafficSockets *sockets, AldOptional before)
{
        if (traffic->known)
                count_sample(traffic, sockets, UINT64_MAX);
        return traffic->known ? ald_traffic_rate(&traffic->count, before) : (AldOptional){};
}
