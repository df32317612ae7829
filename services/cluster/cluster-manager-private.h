/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/cluster-manager.h"
#include "services/common/timer.h"

/* For cluster-manager*.c only. */

/* Losing a broker for a moment, or looking for one at the start, is not worth a finding. */
#define ALD_BROKERLESS_USEC (10 * G_USEC_PER_SEC)

#define ALD_DUPLICATE_PROBLEM                                                                               \
        "Another machine has the id of this one, as copies of the same image do, or someone else uses its " \
        "certificate. On a copy, remove /etc/machine-id, run systemd-machine-id-setup, reboot, and join "   \
        "the cluster again. If there is no copy, revoke the certificate of this machine and join again. "   \
        "This machine retries every few minutes, and after systemctl reload alidade-clusterd"

#define ALD_CONTESTED_PROBLEM                                                                                \
        "Someone else published under the id of this machine within the last few minutes, and may have its " \
        "certificate. If there is no copy of this machine, revoke its certificate and join again"

struct AldClusterManager {
        AldService *service;
        AldId own;
        uint64_t since;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        AldClusterConfig *config;
        AldMember *member;
        bool begun; /* may join a cluster */
        bool wanted;
        AldPresenceState presence; /* of this node, as last sent to the state service */
        gint64 brokerless; /* since when a member has had no broker; 0: it has one, or is not a member */
        AldTimer *presence_timer;
        bool put_own; /* the newest stamp of this node was sent to the present state service */
        AldTimer *behind_timer;
        bool epoch_missing; /* the state service has sent all its records, and had none yet */
        void (*changed)(void *userdata);
        void *userdata;
};

/* Whether everything from other nodes is wanted now, even outside a cluster. */
bool ald_cluster_manager_mirrors(const AldClusterManager *manager);
