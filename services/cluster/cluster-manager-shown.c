/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/cluster-manager-private.h"

static const char *const state_names[] = {
        [ALD_CLUSTER_IDLE] = "idle",
        [ALD_CLUSTER_CONNECTING] = "connecting",
        [ALD_CLUSTER_ONLINE] = "online",
        [ALD_CLUSTER_DUPLICATE] = "duplicate",
};

const char *ald_cluster_state_name(AldClusterState state)
{
        return state_names[state];
}

AldClusterState ald_cluster_manager_state(const AldClusterManager *manager)
{
        if (manager->presence == ALD_PRESENCE_STATE_DUPLICATE)
                return ALD_CLUSTER_DUPLICATE;
        if (!manager->member || ald_brokers_count(ald_member_brokers(manager->member)) == 0)
                return ALD_CLUSTER_IDLE;
        if (ald_brokers_count_connected(ald_member_brokers(manager->member)) > 0)
                return ALD_CLUSTER_ONLINE;
        return ALD_CLUSTER_CONNECTING;
}

/* Of the broker that is published to; without one, of the first that tells a reason. */
static char *brokers_problem(const AldClusterManager *manager)
{
        AldBrokers *brokers = ald_member_brokers(manager->member);
        AldBroker *first = ald_brokers_first(brokers);

        if (ald_brokers_count(brokers) == 0)
                return g_strdup(manager->config->discovery ? "No broker is configured, and none was found"
                                                           : "No broker is configured");
        for (size_t i = 0; i < ald_brokers_count(brokers); i++) {
                AldBroker *broker = ald_brokers_get(brokers, i);
                g_autofree char *problem = ald_member_broker_problem(manager->member, broker);

                if (problem && (!first || first == broker))
                        return g_strdup_printf("Broker %s: %s", ald_broker_address(broker), problem);
        }
        return NULL;
}

char *ald_cluster_manager_problem(const AldClusterManager *manager)
{
        char *problem = NULL;

        if (manager->presence == ALD_PRESENCE_STATE_DUPLICATE)
                return g_strdup(ALD_DUPLICATE_PROBLEM);
        if (manager->member && ald_trust_problem(manager->trust))
                return g_strdup(ald_trust_problem(manager->trust));
        if (manager->member &&
                ald_own_status_is_contested(manager->status, (uint64_t) g_get_monotonic_time()))
                return g_strdup(ALD_CONTESTED_PROBLEM);
        if (manager->member)
                problem = brokers_problem(manager);
        if (!problem && manager->member)
                problem = ald_trust_warning(manager->trust, ald_realtime_usec());
        if (!problem && manager->member && !ald_handover_has_state(manager->handover))
                return g_strdup("The state service is not running: start alidade-stated");
        return problem ? problem : g_strdup("");
}

const char *ald_cluster_manager_name(const AldClusterManager *manager)
{
        return manager->config->name;
}

const AldId *ald_cluster_manager_own(const AldClusterManager *manager)
{
        return &manager->own;
}

const char *ald_cluster_manager_instance(const AldClusterManager *manager)
{
        return ald_own_status_instance(manager->status);
}

AldMirrorMode ald_cluster_manager_mirror(const AldClusterManager *manager)
{
        return manager->config->mirror;
}

bool ald_cluster_manager_is_mirroring(const AldClusterManager *manager)
{
        return manager->member && ald_cluster_manager_mirrors(manager);
}

uint64_t ald_cluster_manager_refused(const AldClusterManager *manager)
{
        return manager->member ? ald_receiver_refused(ald_member_receiver(manager->member)) : 0;
}

uint64_t ald_cluster_manager_certificate_expiry(const AldClusterManager *manager)
{
        return *manager->config->name ? ald_trust_expiry(manager->trust) : UINT64_MAX;
}

void ald_cluster_manager_membership(const AldClusterManager *manager, AldMembershipMade *ret)
{
        const AldExcess *refused = NULL;
        size_t n = 0;

        if (manager->member)
                refused = ald_member_refused(manager->member, &n);
        ald_membership_make(manager->config->name, ald_trust_ends(manager->trust), refused, n, ret);
}

uint64_t ald_cluster_manager_since(const AldClusterManager *manager)
{
        return manager->since;
}

AldMember *ald_cluster_manager_member(const AldClusterManager *manager)
{
        return manager->member;
}
