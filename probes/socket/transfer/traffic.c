/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/clock.h"
#include "probes/socket/transfer/traffic.h"

#define HEADERS 86u /* Ethernet, IPv6 and TCP with timestamps */

uint64_t ald_traffic_of(const AldTcpInfo *info, bool sending)
{
        if (sending)
                return MAX(info->bytes_sent, info->bytes_acked) + info->segments_out * HEADERS;
        /* bytes_received does not count duplicates. */
        return MAX(info->bytes_received, info->segments_in * info->segment_in) +
               info->all_segments_in * HEADERS;
}

static uint64_t sum_own(bool sending, const AldTrafficSockets *sockets)
{
        uint64_t sum = 0;
        AldTcpInfo info;

        for (size_t i = 0; i < G_N_ELEMENTS(sockets->fds); i++)
                if (sockets->fds[i] >= 0 && ald_tcp_info_get(sockets->fds[i], &info) >= 0)
                        sum += ald_traffic_of(&info, sending);
        return sum;
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
}

AldOptional ald_traffic_end(
        const AldInterfaceTraffic *traffic, uint64_t data, const AldTrafficSockets *sockets)
{
        uint64_t elapsed = ald_now() - traffic->begun, bytes = 0, all, own;

        /* If the counter went back, the interface was created anew. */
        if (!traffic->known || elapsed == 0 || !count(traffic, &bytes) || bytes < traffic->bytes)
                return (AldOptional){};
        all = bytes - traffic->bytes;
        own = sum_own(traffic->sending, sockets) - traffic->own + data;
        return (AldOptional){ true, (uint64_t) ((double) (all - MIN(own, all)) * 8e9 / (double) elapsed) };
}
