/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ALD_TCP_CONGESTION_SIZE 16u
#define ALD_ETHERNET_BYTES 14u

/* The figures that the kernel reports about a connection; those that an old kernel lacks are 0. */
typedef struct AldTcpInfo {
        uint64_t bytes_acked;
        uint64_t bytes_sent;  /* including retransmissions */
        uint64_t bytes_again; /* of these, sent again since they were lost */
        uint64_t bytes_received;
        uint64_t all_segments_in; /* including those without data */
        uint64_t segments_in;     /* with data */
        uint64_t segment_in;      /* bytes of a full segment, as far as seen */
        uint64_t min_rtt;         /* µs, like the times below */
        uint64_t rtt;
        uint64_t busy;           /* time with something to send */
        uint64_t rwnd_limited;   /* of this, waiting for the receiver to make room */
        uint64_t sndbuf_limited; /* of this, waiting for room in the buffer */
        uint64_t segments_out;
        uint64_t retransmits;
        uint64_t duplicates;  /* segments that arrived twice, as the receiver reports: late, not lost */
        uint64_t segment_out; /* bytes of a full segment */
        bool closed;          /* the other side has reset it, so `refused` is unknown */
        uint64_t refused;     /* bytes sent that the queue of the interface did not take, unless sent again */
        uint64_t header_bytes; /* of a segment, from the link layer on; 0: unknown */
} AldTcpInfo;

int ald_tcp_info_get(int fd, AldTcpInfo *ret);

/* Reads the name of the congestion control; "" if unknown. */
void ald_tcp_congestion_get(int fd, char ret[static ALD_TCP_CONGESTION_SIZE + 1]);
