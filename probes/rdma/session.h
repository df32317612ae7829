/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/progress.h"
#include "probes/rdma/flow.h"
#include "probes/rdma/options.h"
#include "record/message.h"

/* The result of a measurement. */
typedef struct AldRdmaMeasurement {
        char source_port[ALD_RDMA_NAME_SIZE], sink_port[ALD_MESSAGE_STRING_MAX + 1];
        char sink[ALD_PKI_ID_SIZE];
        char sink_address[ALD_ADDRESS_SIZE]; /* of the control connection */
        AldGid own_gid, peer_gid;
        bool has_gid;
        bool manager; /* connected by rdma_cm */
        unsigned mtu, inline_max;
        int node; /* NUMA, of our memory; -1: unknown */
        AldPlan plan;
        uint64_t rate; /* negotiated */
        AldRttFigures rtt, read;
        AldVerdict upload, download;
        uint64_t measured; /* µs of CLOCK_REALTIME */
} AldRdmaMeasurement;

/* The report on a served session. */
typedef struct AldRdmaVisit {
        char peer[ALD_PKI_ID_SIZE]; /* "" with a shared key */
        char address[ALD_ADDRESS_SIZE];
        char port[ALD_RDMA_NAME_SIZE]; /* ours; "": none could be used */
        bool authenticated;
        uint64_t received, sent; /* bytes of data */
} AldRdmaVisit;

/* Both take ownership of fd and tls; ald_talk_close() closes what they open. `served` is filled in as far as
 * the session comes. */
int ald_session_measure(const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls,
        AldProgress *progress, AldRdmaMeasurement *ret);
int ald_session_serve(
        const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls, AldRdmaVisit *served);

/* One line of JSON, to be freed by g_free(); unknown values are omitted. */
char *ald_rdma_result_to_json(const AldRdmaMeasurement *result);
char *ald_rdma_served_to_json(const AldRdmaVisit *served, const AldFailure *failure);

/* For people; the second without an end of line. */
char *ald_rdma_result_to_text(const AldRdmaMeasurement *result);
char *ald_rdma_served_to_text(const AldRdmaVisit *served, const AldFailure *failure);
