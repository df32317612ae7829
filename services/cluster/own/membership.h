/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/cluster/peers/quota-report.h"
#include "services/cluster/trust/trust.h"

/* Node1.Membership of this machine; not to be copied, since it points into itself. */
typedef struct AldMembershipMade {
        AldMembership fields;
        AldRefusedPublisher rows[ALD_QUOTA_REPORT_NODES];
        char ids[ALD_QUOTA_REPORT_NODES][ALD_ID_STRING_SIZE];
} AldMembershipMade;

/* `cluster` is "" outside a cluster, and all fields then stay absent. It must outlive the result. */
void ald_membership_make(const char *cluster, const AldTrustEnds *ends, const AldQuotaReportRow *refused,
        size_t n_refused, AldMembershipMade *ret);
