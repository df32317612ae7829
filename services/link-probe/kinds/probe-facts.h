/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/rdma-pairs.h"
#include "services/link-probe/state/node-records.h"

/* The facts by which the targets of a request are looked up. */
struct AldProbeFacts {
        const char *own_id;
        uint64_t now_realtime; /* µs */
        const AldNodeRecords *own,
                *peer; /* of this machine and of the peer; the latter is empty without a peer */
        const AldNeighbours *neighbours; /* over RDMA; else NULL */
        const AldResults *results;       /* of links */
        AldDeviceSchedule *schedule;     /* of a local kind; else NULL */
        /* Devices of a local kind whose load our own measurements cause; else NULL. */
        const char *const *ours;
};
