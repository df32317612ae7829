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
        bool wifi; /* over a radio at the source */
        uint64_t upload_bits_per_second;
        uint64_t download_bits_per_second;
        uint64_t rtt_p50_nsec;
        uint64_t negotiated_bits_per_second;
        uint64_t measured_usec;
        const char *limiter;
        const char *failure;
        uint64_t failed_usec;
} AldLink;

/* The entry is one of a link, with a record. */
AldLink ald_link_of(const AldEntry *entry);
