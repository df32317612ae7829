/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/kind.h"
#include "services/link-probe/inhibit/inhibit-what.h"

/* How a link is measured: each transport has a program and a kind of record. */
typedef enum AldTransport {
        ALD_TRANSPORT_SOCKET,
        ALD_TRANSPORT_RDMA,
        ALD_TRANSPORT_N,
} AldTransport;

typedef struct AldTransportInfo {
        const char *program;
        AldKind kind;
        AldKind result;   /* the message that the program prints */
        unsigned inhibit; /* the kinds of locks that inhibit it */
        const char *noun; /* what is measured, in words */
} AldTransportInfo;

extern const AldTransportInfo ald_transports[ALD_TRANSPORT_N];

/* The transport of a kind of record; -EINVAL if it is not a kind of link. */
int ald_transport_of_kind(const char *name);
