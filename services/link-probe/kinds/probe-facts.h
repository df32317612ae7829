/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/kinds/rdma-pairs.h"
#include "services/link-probe/node-records.h"

/* Holds what is known when the targets of a request are looked up. */
struct AldProbeFacts {
        const char *own_id;
        uint64_t now_realtime;                               /* µs */
        const AldNodeRecords *own, *peer;                    /* without a peer its records are empty */
        const AldNeighbours *neighbours;                     /* over RDMA only */
        const AldResults *results;                           /* of links */
        bool (*is_ours)(const char *device, void *userdata); /* whether we cause the load of the device */
        void *userdata;
};
