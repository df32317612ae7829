/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/member.h"
#include "services/cluster/own/membership.h"

/*
 * The cluster service: connects to the configured cluster, if any, with the certificates of this machine,
 * and passes what other nodes publish to the state service.
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
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClusterManager, ald_cluster_manager_free)

/* Joins the configured cluster. Call it once this process owns the name of the service, since a second
 * process would disconnect the first one from its brokers. */
void ald_cluster_manager_begin(AldClusterManager *manager);

/* Sets the callback for changes of anything that clients see; it may also run without a change. */
void ald_cluster_manager_watch(AldClusterManager *manager, void (*changed)(void *userdata), void *userdata);

/* Reads the configuration and the certificates again. */
void ald_cluster_manager_configure(AldClusterManager *manager);

/* Sets whether a client wants the records of other nodes, which matters with mirror=on-demand. */
void ald_cluster_manager_set_wanted(AldClusterManager *manager, bool wanted);

AldClusterState ald_cluster_manager_state(const AldClusterManager *manager);
/* Describes the most important problem; "" if there is none. Free with g_free(). */
char *ald_cluster_manager_problem(const AldClusterManager *manager);
const char *ald_cluster_manager_name(const AldClusterManager *manager);
const AldId *ald_cluster_manager_own(const AldClusterManager *manager);
const char *ald_cluster_manager_instance(const AldClusterManager *manager);
AldMirrorMode ald_cluster_manager_mirror(const AldClusterManager *manager);
bool ald_cluster_manager_is_mirroring(const AldClusterManager *manager);
uint64_t ald_cluster_manager_refused(const AldClusterManager *manager);
uint64_t ald_cluster_manager_certificate_expiry(const AldClusterManager *manager);
/* Makes the record Node1.Membership of this node, valid until the manager changes. */
void ald_cluster_manager_membership(const AldClusterManager *manager, AldMembershipMade *ret);
/* Returns when this service started, in µs of CLOCK_REALTIME. */
uint64_t ald_cluster_manager_since(const AldClusterManager *manager);

/* Returns NULL if no cluster is joined. */
AldMember *ald_cluster_manager_member(const AldClusterManager *manager);
