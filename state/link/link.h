/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* The common contents of both kinds of link records. Strings point into the records. */
typedef struct AldLink {
        AldId source;
        AldId sink;
        const char *from; /* source interface, or RDMA device and port; NULL if unknown */
        const char *to;   /* sink address, or RDMA device and port; NULL if unknown */
        bool rdma;
        const char *source_type, *sink_type; /* of the ports of sockets; NULL if unknown */
        union {
                AldLinkDirection directions[2];
                struct {
                        AldLinkDirection upload, download;
                };
        };
        const char *const *flags;
        uint64_t rtt_p50_nsec;
        uint64_t negotiated_bits_per_second;
        uint64_t measured_usec;
        const char *failure;
        uint64_t failed_usec;
        uint64_t rtt_measured_usec; /* of links over sockets */
} AldLink;

/* Reads the link of an entry, which must have a record. */
AldLink ald_link_of(const AldEntry *entry);

/* Reads a record without an entry: its ends are the ids that it names, or all zero. */
AldLink ald_link_of_record(const AldRecord *record);

/* Adds facts from the sink: the rate of its port, or the interface of its address, which a record of an older
 * version lacks, so that a fast port connected to a slow one is not reported as slow. Either record may be
 * NULL. */
void ald_link_add_sink(AldLink *link, const AldNetwork *network, const AldFabric *fabric);

/* Returns whether the last attempt to measure it failed; the second form takes the fields of a row. */
bool ald_link_has_failed(const AldLink *link);
bool ald_attempt_has_failed(uint64_t measured_usec, uint64_t failed_usec, const char *failure);

/* Returns whether the sink was reached, the last time too, so that the ends are known to be connected. */
bool ald_link_reaches_sink(const AldLink *link);

/*
 * Finds the ports that a failed probe over sockets could not connect to: the port of probes, or the ports of
 * their data. Returns false if it failed in another way. The probe says "ADDRESS port N: REASON", and "…;
 * data connections use TCP ports N to N" if it is about the latter.
 */
bool ald_link_closed_ports(const char *failure, uint64_t *ret_first, uint64_t *ret_last);

/* Returns whether the whole confidence interval of a direction is below half of the negotiated speed, or a
 * quarter over Wi-Fi; false if either is unknown. */
bool ald_link_direction_falls_short(const AldLink *link, const AldLinkDirection *direction);
bool ald_link_falls_short(const AldLink *link);
