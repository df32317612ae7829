/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/cluster-config.h"
#include "services/cluster/mqtt/brokers.h"
#include "services/cluster/own/announcer.h"
#include "services/cluster/peers/quota-report.h"
#include "services/cluster/peers/receiver.h"
#include "services/cluster/state/handover.h"
#include "services/cluster/trust/trust.h"

/*
 * This machine as a member of one cluster: messages from the brokers pass through the receiver to the state
 * service, and the records that the state service has of this node pass through the announcer to the brokers.
 */
typedef struct AldMember AldMember;

typedef struct AldMemberSetup {
        AldService *service;
        const AldId *own;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        void (*changed)(void *userdata); /* called when something changed that clients see */
        void *userdata;
} AldMemberSetup;

int ald_member_new(const AldMemberSetup *setup, const AldClusterConfig *config, AldMember **ret);
/* Publishes that this node is offline, and waits up to 1.5 s until the brokers have received it. */
void ald_member_free(AldMember *member);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMember, ald_member_free)

/* How long this node stays away from a broker at which another machine used its id. */
#define ALD_DUPLICATE_RETRY_USEC (300 * G_USEC_PER_SEC)

/* Returns whether another machine uses our id at every reachable broker, so that none is connected. */
bool ald_member_is_duplicate(AldMember *member);

/* Applies a changed configuration of the same cluster. */
void ald_member_configure(AldMember *member, const AldClusterConfig *config);
/* Sets whether everything from other nodes is received, or only what is needed to measure links. */
void ald_member_set_mirroring(AldMember *member, bool mirroring);
/* Drops the other nodes, before this machine leaves the cluster. */
void ald_member_drop_nodes(AldMember *member);
void ald_member_reconnect(AldMember *member);
/* Makes the brokers send all retained messages again; see subscriber.h. */
void ald_member_request_all(AldMember *member);
/* Makes the brokers send what they have stored of this node again. */
void ald_member_request_own(AldMember *member);
/* Sends the presence of each node again, after the state service was restarted. */
void ald_member_report_all_again(AldMember *member);

/* Hides a node in the whole cluster. Returns -ALD_E_NO_SUCH_NODE, -ALD_E_NODE_ONLINE if it is
 * not offline, -ALD_E_NOT_JOINED without a broker, -ALD_E_COMMON_LIMIT if too many are forgotten. */
int ald_member_forget(AldMember *member, const AldId *target);

/* Returns the nodes whose messages the broker on this machine refuses, and their number in *ret_n. */
const AldQuotaReportRow *ald_member_refused(const AldMember *member, size_t *ret_n);

AldAnnouncer *ald_member_announcer(AldMember *member);
AldBrokers *ald_member_brokers(AldMember *member);
AldReceiver *ald_member_receiver(AldMember *member);

/* Describes a problem with a broker, including that it does not deliver what this node publishes; NULL if
 * there is none. Free with g_free(). */
char *ald_member_broker_problem(AldMember *member, AldBroker *broker);
