/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/member.h"
#include "services/cluster/membership.h"

/*
 * What the cluster service does: it joins the cluster that is configured, if one is, with the trust that this
 * machine has, and lets the state service know of the others.
 */
typedef struct AldClusterManager AldClusterManager;

typedef enum AldClusterState {
        ALD_CLUSTER_IDLE,
        ALD_CLUSTER_CONNECTING,
        ALD_CLUSTER_ONLINE,
        ALD_CLUSTER_DUPLICATE,
} AldClusterState;

const char *ald_cluster_state_name(AldClusterState state);

int ald_cluster_manager_new(AldService *service, AldClusterManager **ret);
void ald_cluster_manager_free(AldClusterManager *manager);

/* Called where something that clients see may have changed. */
void ald_cluster_manager_watch(AldClusterManager *manager, void (*changed)(void *userdata), void *userdata);

/* Configuration and certificates are read again. */
void ald_cluster_manager_configure(AldClusterManager *manager);

/* Whether somebody wants the records of others, where the configuration leaves it to that. */
void ald_cluster_manager_set_wanted(AldClusterManager *manager, bool wanted);

AldClusterState ald_cluster_manager_state(const AldClusterManager *manager);
/* What is wrong, in words, "" where nothing is; free with g_free(). */
char *ald_cluster_manager_problem(const AldClusterManager *manager);
const char *ald_cluster_manager_name(const AldClusterManager *manager);
const AldId *ald_cluster_manager_own(const AldClusterManager *manager);
const char *ald_cluster_manager_instance(const AldClusterManager *manager);
AldMirrorMode ald_cluster_manager_mirror(const AldClusterManager *manager);
bool ald_cluster_manager_is_mirroring(const AldClusterManager *manager);
uint64_t ald_cluster_manager_refused(const AldClusterManager *manager);
uint64_t ald_cluster_manager_certificate_expiry(const AldClusterManager *manager);
/* The record Node1.Membership of this node; valid until the manager changes. */
void ald_cluster_manager_membership(const AldClusterManager *manager, AldMembershipMade *ret);
/* CLOCK_REALTIME in µs at the start. */
uint64_t ald_cluster_manager_since(const AldClusterManager *manager);

/* NULL where no cluster is joined. */
AldMember *ald_cluster_manager_member(const AldClusterManager *manager);
