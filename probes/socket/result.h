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
#include "probes/socket/limiter.h"
#include "probes/socket/options.h"
#include "probes/socket/server.h"
#include "probes/socket/tcp-info.h"

#define ALD_RESULT_REASON_SIZE 256u

typedef struct AldDirection {
        bool known;
        char reason[ALD_RESULT_REASON_SIZE]; /* why it is unknown; "" if it was not measured */
        AldOptional other; /* other traffic meanwhile, in bits/s, at the end that saw more of it */
        AldVerdict verdict;
        AldSocketVerdictLimiter limiter;
        uint64_t retransmits;
} AldDirection;

/* What a measurement found. */
typedef struct AldResult {
        char sink[ALD_PKI_ID_SIZE]; /* "" with a shared key */
        char sink_address[ALD_ADDRESS_SIZE];
        char *interface;                  /* NULL if unknown */
        char sink_interface[IF_NAMESIZE]; /* "" if unknown */
        AldSocketScope scope;
        uint64_t spot_upload, spot_download; /* bits/s; 0 if unknown */
        char spot_reason[ALD_RESULT_REASON_SIZE];
        bool rtt_known, loaded_known;
        AldRttFigures rtt, loaded;
        uint64_t kernel_min_rtt; /* ns; 0: unknown */
        AldDirection upload, download;
        char congestion[ALD_TCP_CONGESTION_SIZE + 1];
        uint64_t measured; /* µs of CLOCK_REALTIME */
} AldResult;

void ald_result_clear(AldResult *result);

/* One line of JSON without unknown values, to be freed by g_free(). */
char *ald_result_to_json(const AldResult *result);

/* For people; several lines. */
char *ald_result_to_text(const AldResult *result);

/* The result of a session at the side that served it; failure may be empty. */
char *ald_served_to_json(const AldServed *served, const AldFailure *failure);
char *ald_served_to_text(const AldServed *served, const AldFailure *failure);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldResult, ald_result_clear)
