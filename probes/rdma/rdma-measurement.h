/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"
#include "probes/common/address.h"
#include "probes/common/evaluator.h"
#include "probes/common/statistics.h"
#include "probes/rdma/port.h"
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
        int node; /* NUMA node of our memory; -1 if unknown */
        AldRdmaPlan plan;
        uint64_t rate; /* negotiated */
        AldRttFigures rtt, read;
        AldVerdict upload, download;
        uint64_t measured; /* µs of CLOCK_REALTIME */
} AldRdmaMeasurement;

/* The report on a served session. */
typedef struct AldRdmaSessionReport {
        char peer[ALD_PKI_ID_SIZE]; /* "" with a shared key */
        char address[ALD_ADDRESS_SIZE];
        char port[ALD_RDMA_NAME_SIZE]; /* ours; "" if none could be used */
        bool authenticated;
        uint64_t received, sent; /* bytes of data */
} AldRdmaSessionReport;

/* These format a line of JSON, to be freed with g_free(). Unknown values are omitted. */
char *ald_rdma_measurement_to_json(const AldRdmaMeasurement *result);
char *ald_rdma_session_report_to_json(const AldRdmaSessionReport *served, const AldFailure *failure);

/* These format a text for people; the second one without a line feed at the end. */
char *ald_rdma_measurement_to_text(const AldRdmaMeasurement *result);
char *ald_rdma_session_report_to_text(const AldRdmaSessionReport *served, const AldFailure *failure);
