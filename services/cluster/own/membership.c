/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/own/membership.h"

static void add_refused(AldMembershipMade *made, const AldQuotaReportRow *refused)
{
        size_t i = made->fields.refused_publishers.n++;

        made->rows[i] = (AldRefusedPublisher){
                .id = ald_id_format(&refused->node, made->ids[i]),
                .kept_bytes = refused->kept_bytes,
                .kept_topics = refused->kept_topics,
                .refused_messages = refused->refused,
        };
}

void ald_membership_make(const char *cluster, const AldTrustEnds *ends, const AldQuotaReportRow *refused,
        size_t n_refused, AldMembershipMade *ret)
{
        ret->fields = (AldMembership) ALD_MEMBERSHIP_INIT;
        if (*cluster == '\0')
                return;
        ret->fields.cluster_name = cluster;
        ret->fields.certificate_expiry_usec = ends->node;
        ret->fields.broker_expiry_usec = ends->broker;
        ret->fields.bridge_expiry_usec = ends->bridge;
        ret->fields.authority_expiry_usec = ends->authority;
        ret->fields.refused_publishers.items = ret->rows;
        for (size_t i = 0; i < n_refused; i++)
                add_refused(ret, &refused[i]);
}
