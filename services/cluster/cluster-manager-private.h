/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/cluster-manager.h"
#include "services/common/timer.h"

/* Known to cluster-manager*.c only. */

/* A broker that is lost for a moment, or looked for at the start, is not worth a finding. */
#define ALD_BROKERLESS_USEC (10 * G_USEC_PER_SEC)

#define ALD_DUPLICATE_PROBLEM                                                                                \
        "Another machine has the id of this one, as copies of one image do, or somebody else uses its "      \
        "certificate. If it is a copy, there remove /etc/machine-id, run systemd-machine-id-setup, reboot, " \
        "and join the cluster again. If there is no copy, revoke the certificate of this machine and let "   \
        "it "                                                                                                \
        "join anew. This machine tries again every few minutes, and at systemctl reload alidade-clusterd"

#define ALD_CONTESTED_PROBLEM                                                                            \
        "Somebody else has spoken under the id of this machine within the last minutes: maybe somebody " \
        "else uses this machine's certificate. If there is no copy of this machine, revoke its "         \
        "certificate and let it join anew"

struct AldClusterManager {
        AldService *service;
        AldId own;
        uint64_t since;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        AldClusterConfig *config;
        AldMember *member;
        bool wanted;
        AldPresenceState presence; /* of this node, as the state service was last told */
        gint64 brokerless;         /* since when a member reaches no broker; 0: it does, or is none */
        AldTimer *presence_timer;
        bool put_own; /* the state service, since it is there, was put the newest stamp of this node */
        AldTimer *behind_timer;
        bool epoch_missing; /* the state service has told all, and that was nothing yet */
        void (*changed)(void *userdata);
        void *userdata;
};

/* Whether all of other nodes is wanted now, be this machine in a cluster or not. */
bool ald_cluster_manager_mirrors(const AldClusterManager *manager);
