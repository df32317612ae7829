/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/clock.h"
#include "probes/socket/transfer/traffic.h"

#define HEADERS 86u /* Ethernet, IPv6 and TCP with timestamps, where the kernel does not say */

void ald_traffic_add(AldWireTraffic *traffic, const AldTcpInfo *info, bool sending)
{
        uint64_t headers = info->header_bytes > 0 ? info->header_bytes : HEADERS, sent, accepted, segments;

        /* bytes_received does not count duplicates. */
        if (!sending) {
                traffic->bytes += MAX(info->bytes_received, info->segments_in * info->segment_in) +
                                  info->all_segments_in * headers;
                return;
        }
        sent = MAX(info->bytes_sent, info->bytes_acked);
        accepted = MIN(info->bytes_acked + info->unacked * info->segment_out + info->bytes_again, sent);
        segments = info->segment_out > 0 ? (sent - accepted) / info->segment_out : 0;
        traffic->bytes += accepted + (info->segments_out - MIN(segments, info->segments_out)) * headers;
        if (info->segment_out == 0)
                return;
        traffic->again += info->bytes_again + info->bytes_again / info->segment_out * headers;
        traffic->burst = MAX(traffic->burst, (info->segment_out + headers) * MAX(info->burst_out, 1));
}

static AldWireTraffic sum_own(bool sending, const AldTrafficSockets *sockets)
{
        AldWireTraffic sum = {};
        AldTcpInfo info;

        for (size_t i = 0; i < G_N_ELEMENTS(sockets->fds); i++)
                if (sockets->fds[i] >= 0 && ald_tcp_info_get(sockets->fds[i], &info) >= 0)
                        ald_traffic_add(&sum, &info, sending);
        return sum;
}

uint64_t ald_traffic_of_others(uint64_t all, const AldWireTraffic *own, uint64_t drops)
{
        uint64_t dropped = MIN(own->again, drops * own->burst), moved = own->bytes - MIN(dropped, own->bytes);

        return all - MIN(moved, all);
}

static bool count(const AldInterfaceTraffic *traffic, uint64_t *ret)
{
        AldInterfaceBytes bytes;

        if (ald_interface_bytes(traffic->interface, &bytes) < 0)
                return false;
        *ret = traffic->sending ? bytes.sent : bytes.received;
        return true;
}

void ald_traffic_begin(
        AldInterfaceTraffic *traffic, const char *interface, bool sending, const AldTrafficSockets *sockets)
{
        *traffic = (AldInterfaceTraffic){
                .sending = sending, .begun = ald_now(), .own = sum_own(sending, sockets)
        };
        g_strlcpy(traffic->interface, interface ?: "", sizeof traffic->interface);
        traffic->known = *traffic->interface && count(traffic, &traffic->bytes);
        if (traffic->known && sending && ald_interface_drops(traffic->interface, &traffic->drops) < 0)
                traffic->drops = UINT64_MAX;
}

AldOptional ald_traffic_end(
        const AldInterfaceTraffic *traffic, const AldWireTraffic *data, const AldTrafficSockets *sockets)
{
        uint64_t elapsed = ald_now() - traffic->begun, bytes = 0, drops = 0, others;
        AldWireTraffic own = sum_own(traffic->sending, sockets);

        /* If the counter went back, the interface was created anew. */
        if (!traffic->known || elapsed == 0 || !count(traffic, &bytes) || bytes < traffic->bytes)
                return (AldOptional){};
        /* As if the queue had dropped nothing where that is unknown, or where it was replaced. */
        if (!traffic->sending || ald_interface_drops(traffic->interface, &drops) < 0)
                drops = 0;
        own.bytes += data->bytes - MIN(traffic->own.bytes, own.bytes);
        own.again += data->again - MIN(traffic->own.again, own.again);
        own.burst = MAX(own.burst, data->burst);
        others = ald_traffic_of_others(bytes - traffic->bytes, &own, drops - MIN(traffic->drops, drops));
        return (AldOptional){ true, (uint64_t) ((double) others * 8e9 / (double) elapsed) };
}
