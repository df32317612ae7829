/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/cluster/peers/quota-report.h"
#include "services/cluster/trust/trust.h"

/* The record Node1.Membership of this machine. It points into itself, so it must not be copied. */
typedef struct AldMembershipMade {
        AldMembership fields;
        AldRefusedPublisher rows[ALD_QUOTA_REPORT_NODES];
        char ids[ALD_QUOTA_REPORT_NODES][ALD_ID_STRING_SIZE];
} AldMembershipMade;

/* Fills the record. `cluster` must outlive it; outside a cluster it is "", and all fields stay absent. */
void ald_membership_make(const char *cluster, const AldTrustEnds *ends, const AldQuotaReportRow *refused,
        size_t n_refused, AldMembershipMade *ret);
