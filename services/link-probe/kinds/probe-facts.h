/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/rdma-pairs.h"
#include "services/link-probe/state/node-records.h"

/* Holds what is known when the targets of a request are looked up. */
struct AldProbeFacts {
        const char *own_id;
        uint64_t now_realtime;            /* µs */
        const AldNodeRecords *own, *peer; /* without a peer its records are empty */
        const AldNeighbours *neighbours;  /* over RDMA only */
        const AldResults *results;        /* of links */
        AldDeviceSchedule *schedule;      /* of a local kind; else NULL */
        /* Of a local kind: the devices whose load our own measurement causes; else NULL. */
        const char *const *ours;
};
