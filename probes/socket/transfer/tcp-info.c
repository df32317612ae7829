/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>
#include <linux/tcp.h>

#include "probes/socket/transfer/tcp-info.h"

#define CLOSED 7u         /* TCP_CLOSE of netinet/tcp.h, which contradicts linux/tcp.h */
#define HEADERS_MOST 200u /* with more, the other side takes shorter segments than the path carries */

/* Returns the bytes of headers per segment: the difference between the packets of the path and their
 * segments. */
static uint64_t header_bytes(const struct tcp_info *info)
{
        uint64_t bytes = info->tcpi_pmtu > info->tcpi_snd_mss ? info->tcpi_pmtu - info->tcpi_snd_mss : 0;

        return bytes > 0 && bytes <= HEADERS_MOST ? bytes + ALD_ETHERNET_BYTES : 0;
}

/* Returns the bytes sent that are neither acknowledged nor under way, nor were sent again. */
static uint64_t refused_bytes(const struct tcp_info *info)
{
        uint64_t taken = info->tcpi_bytes_acked + (uint64_t) info->tcpi_unacked * info->tcpi_snd_mss +
                         info->tcpi_bytes_retrans;

        return info->tcpi_bytes_sent - MIN(taken, info->tcpi_bytes_sent);
}

int ald_tcp_info_get(int fd, AldTcpInfo *ret)
{
        struct tcp_info info = {};
        socklen_t size = sizeof info;

        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
                return -errno;
        *ret = (AldTcpInfo){
                .bytes_acked = info.tcpi_bytes_acked,
                .bytes_sent = info.tcpi_bytes_sent,
                .bytes_again = info.tcpi_bytes_retrans,
                .all_segments_in = info.tcpi_segs_in,
                .bytes_received = info.tcpi_bytes_received,
                .segments_in = info.tcpi_data_segs_in,
                .segment_in = info.tcpi_rcv_mss,
                .min_rtt = info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt,
                .rtt = info.tcpi_rtt,
                .busy = info.tcpi_busy_time,
                .rwnd_limited = info.tcpi_rwnd_limited,
                .sndbuf_limited = info.tcpi_sndbuf_limited,
                .segments_out = info.tcpi_segs_out,
                .retransmits = info.tcpi_total_retrans,
                .duplicates = info.tcpi_dsack_dups,
                .segment_out = info.tcpi_snd_mss,
                .closed = info.tcpi_state == CLOSED,
                .refused = refused_bytes(&info),
                .header_bytes = header_bytes(&info),
        };
        return 0;
}

void ald_tcp_congestion_get(int fd, char ret[static ALD_TCP_CONGESTION_SIZE + 1])
{
        socklen_t size = ALD_TCP_CONGESTION_SIZE;

        memset(ret, 0, ALD_TCP_CONGESTION_SIZE + 1);
        if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, ret, &size) < 0)
                ret[0] = '\0';
}
