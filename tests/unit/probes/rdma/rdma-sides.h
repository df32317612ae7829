/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/rdma-client.h"
#include "probes/rdma/rdma-server.h"
#include "tests/unit/probes/rdma/fake-verbs.h"

/* Both sides of the RDMA probe, a thread each, over devices that exist in this process only. */

typedef struct RdmaSide {
        AldRdmaOptions options;
        int fd; /* 0: to be made */
        bool lies;
        void (*begin)(struct RdmaSide *side); /* called in its thread, or NULL */
        AldFailure failure;
        AldRdmaSessionReport served;
} RdmaSide;

typedef struct RdmaSides {
        char *folder, *key;
        RdmaSide client, server;
        void (*measure)(
                struct RdmaSides *sides, AldRdmaSession *session); /* instead of the client, or NULL */
        AldRdmaMeasurement result;
} RdmaSides;

void rdma_sides_set_up(RdmaSides *sides, gconstpointer userdata);
void rdma_sides_tear_down(RdmaSides *sides, gconstpointer userdata);
void rdma_sides_connect(int ends[static 2]);

/* The keys of a side. */
AldTls *rdma_sides_keys(const RdmaSide *side, bool server);

/* Until both have ended. */
void rdma_sides_run(RdmaSides *sides, const FakeFaults *faults);

void rdma_side_assert_fails(const RdmaSide *side, AldFailureKind kind);
