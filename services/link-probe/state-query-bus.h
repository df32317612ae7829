/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/prober.h"

/* What the state service is asked of links: which are due. */
typedef struct AldStateQuery AldStateQuery;

AldStateQuery *ald_state_query_new(AldService *service);
/* Whoever asked is not told any more. */
void ald_state_query_free(AldStateQuery *query);

/* What only this service knows; see GetDueProbes() of org.alidade.State1. */
typedef struct AldDueQuestion {
        unsigned max;
        bool transports[ALD_TRANSPORT_N]; /* of what links */
        uint64_t bytes_per_hour;
        GHashTable *traffic; /* interface or RDMA port → uint64_t */
        GPtrArray *avoid;    /* of node ids */
        GPtrArray *paths;    /* of keys of paths that their peers put off */
} AldDueQuestion;

/* Of AldProbeTarget; NULL where there was no answer, which has been logged. One question at a time: a later
 * one takes the place of an earlier one. */
typedef void (*AldDueAnswer)(GArray *targets, void *userdata);
void ald_state_query_due(
        AldStateQuery *query, const AldDueQuestion *question, AldDueAnswer answered, void *userdata);
