/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/kind.h"
#include "services/link-probe/inhibit-what.h"

/* By what a link is measured: each has a program and a kind of record. */
typedef enum AldTransport {
        ALD_TRANSPORT_SOCKET,
        ALD_TRANSPORT_RDMA,
        ALD_TRANSPORT_N,
} AldTransport;

typedef struct AldTransportInfo {
        const char *program;
        AldKind kind;
        AldKind result;   /* the message that the program prints */
        unsigned inhibit; /* the locks of any of which hold it off */
        const char *noun; /* what is held off, in words */
} AldTransportInfo;

extern const AldTransportInfo ald_transports[ALD_TRANSPORT_N];

/* Of the record of this name; -EINVAL where it is of no link. */
int ald_transport_of_kind(const char *name);
