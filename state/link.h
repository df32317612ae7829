/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/* What the records of both kinds of links have in common. Strings point into the record. */
typedef struct AldLink {
        AldId source;
        AldId sink;
        const char *from; /* source interface, or RDMA device and port; NULL where unknown */
        const char *to;   /* sink address, or RDMA device and port; NULL where unknown */
        bool rdma;
        const char *source_type, *sink_type; /* of the ports of sockets; NULL where unknown */
        uint64_t upload_bits_per_second;
        uint64_t download_bits_per_second;
        double upload_interval, download_interval; /* percent; maybe absent, as the spreads */
        double upload_spread, download_spread;
        const char *const *flags;
        uint64_t rtt_p50_nsec;
        uint64_t negotiated_bits_per_second;
        uint64_t measured_usec;
        const char *upload_limiter, *download_limiter; /* of sockets */
        const char *failure;
        uint64_t failed_usec;
} AldLink;

/* The entry is one of a link, with a record. */
AldLink ald_link_of(const AldEntry *entry);
