/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/rdma/flow.h"
#include "probes/rdma/options.h"

/* What a measurement found. */
typedef struct AldRdmaResult {
        char source_port[ALD_RDMA_NAME_SIZE], sink_port[ALD_RDMA_TEXT_SIZE];
        char sink[ALD_PKI_ID_SIZE];
        AldGid own_gid, peer_gid;
        bool has_gid;
        unsigned mtu, inline_max, depth;
        size_t size;
        uint64_t rate; /* negotiated */
        AldRttFigures rtt, read;
        AldVerdict upload, download;
} AldRdmaResult;

/* Both take fd and tls; the first the port, too. */
int ald_session_measure(const AldRdmaOptions *options, AldPort *port, int fd, AldTls *tls, int stop,
        AldRdmaResult *ret, AldFailure *failure);
int ald_session_serve(const AldRdmaOptions *options, int fd, AldTls *tls, int stop, AldFailure *failure);

char *ald_rdma_result_to_json(const AldRdmaResult *result);
char *ald_rdma_result_to_text(const AldRdmaResult *result);
