/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <stdbool.h>

#include "pki/types.h"
#include "probes/common/address.h"
#include "probes/common/evaluator.h"
#include "probes/common/failure.h"
#include "probes/common/optional.h"
#include "probes/common/statistics.h"
#include "probes/socket/transfer/limiter.h"
#include "probes/socket/transfer/socket-options.h"
#include "probes/socket/transfer/tcp-info.h"

#define ALD_SOCKET_REASON_SIZE 256u

typedef struct AldSocketDirection {
        bool known;
        char reason[ALD_SOCKET_REASON_SIZE]; /* why it is unknown; "" if it was not measured */
        AldOptional other; /* other traffic meanwhile, in bits/s, at the end that saw more of it */
        AldVerdict verdict;
        AldSocketLimiter limiter;
        uint64_t retransmits;
} AldSocketDirection;

/* The result of a measurement. */
typedef struct AldSocketMeasurement {
        char sink[ALD_PKI_ID_SIZE]; /* "" with a shared key */
        char sink_address[ALD_ADDRESS_SIZE];
        char *interface;                  /* NULL if unknown */
        char sink_interface[IF_NAMESIZE]; /* "" if unknown */
        AldSocketScope scope;
        uint64_t spot_upload, spot_download; /* bits/s; 0 if unknown */
        char spot_reason[ALD_SOCKET_REASON_SIZE];
        bool rtt_known, loaded_known;
        AldRttFigures rtt, loaded;
        uint64_t loaded_nsec;    /* time for which the longer of the transfers loaded the link */
        uint64_t kernel_min_rtt; /* ns; 0: unknown */
        AldSocketDirection upload, download;
        char congestion[ALD_TCP_CONGESTION_SIZE + 1];
        uint64_t measured; /* µs of CLOCK_REALTIME */
} AldSocketMeasurement;

void ald_socket_measurement_clear(AldSocketMeasurement *result);

/* Formats the result as a line of JSON without unknown values. Free it with g_free(). */
char *ald_socket_measurement_to_json(const AldSocketMeasurement *result);

/* Formats the result for people, in several lines. */
char *ald_socket_measurement_to_text(const AldSocketMeasurement *result);

/* The result of a session, for the program that runs the probe. */
typedef struct AldSocketSessionReport {
        char peer[ALD_PKI_ID_SIZE]; /* "" with a shared key */
        bool authenticated;
        bool refused;
        bool measured; /* the session was completed */
        char *address; /* of the other side */
        char *interface;
        uint64_t received, sent; /* bytes of data */
        uint64_t upload;         /* bits/s of the upload, as evaluated here; 0: none */
} AldSocketSessionReport;

void ald_socket_session_report_clear(AldSocketSessionReport *served);

/* The failure may be empty. */
char *ald_socket_session_report_to_json(const AldSocketSessionReport *served, const AldFailure *failure);
char *ald_socket_session_report_to_text(const AldSocketSessionReport *served, const AldFailure *failure);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSocketMeasurement, ald_socket_measurement_clear)
