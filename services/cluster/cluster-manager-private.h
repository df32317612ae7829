/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/cluster-manager.h"
#include "services/common/timer.h"

/* Known to cluster-manager*.c only. */
#define ALD_DUPLICATE_PROBLEM                                                                              \
        "Another machine has the id of this one, as copies of one image do. On the copy remove "           \
        "/etc/machine-id, run systemd-machine-id-setup, reboot, and join the cluster again; then restart " \
        "alidade-clusterd on both"

struct AldClusterManager {
        AldService *service;
        AldId own;
        uint64_t since;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        AldClusterConfig *config;
        AldMember *member;
        bool wanted, duplicate;
        bool put_own; /* the state service, since it is there, was put the newest stamp of this node */
        AldTimer *behind_timer;
        bool epoch_missing; /* the state service has told all, and that was nothing yet */
        void (*changed)(void *userdata);
        void *userdata;
};

/* Whether all of other nodes is wanted now, be this machine in a cluster or not. */
bool ald_cluster_manager_mirrors(const AldClusterManager *manager);
