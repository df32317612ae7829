/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/brokers.h"
#include "services/cluster/cluster-config.h"
#include "services/cluster/handover.h"
#include "services/cluster/receiver.h"
#include "services/cluster/trust.h"
#include "services/cluster/voice.h"

/*
 * This machine as a member of one cluster: what comes from the brokers goes through the receiver to the state
 * service, and what that has of this node goes through the voice to the brokers.
 */
typedef struct AldMember AldMember;

typedef struct AldMemberSetup {
        AldService *service;
        const AldId *own;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        void (*changed)(void *userdata);   /* something that clients see */
        void (*duplicate)(void *userdata); /* another machine has our id; nothing is connected any more */
        void *userdata;
} AldMemberSetup;

int ald_member_new(const AldMemberSetup *setup, const AldClusterConfig *config, AldMember **ret);
/* Says that this node is offline, and waits for at most 1.5 s until the brokers have it. */
void ald_member_free(AldMember *member);

/* The configuration of the same cluster has changed. */
void ald_member_configure(AldMember *member, const AldClusterConfig *config);
/* Whether all of other nodes is wanted, or what it takes to measure links with some. */
void ald_member_set_mirroring(AldMember *member, bool mirroring);
/* Before it ends for good: the other nodes are dropped. */
void ald_member_drop_nodes(AldMember *member);
void ald_member_reconnect(AldMember *member);
/* Has the brokers send all again that they keep; see listening.h. */
void ald_member_ask_for_all(AldMember *member);
/* The same of what they keep of this node. */
void ald_member_ask_for_own(AldMember *member);
/* The state service is new: it is told of each node again. */
void ald_member_tell_all(AldMember *member);

/* -ENOENT, -EBUSY where that is online, -ENOTCONN without a broker, -ENOSPC where too many are forgotten. */
int ald_member_forget(AldMember *member, const AldId *target);

AldVoice *ald_member_voice(AldMember *member);
AldBrokers *ald_member_brokers(AldMember *member);
AldReceiver *ald_member_receiver(AldMember *member);

/* What is wrong with a broker, also that what this node says does not reach the others through it; NULL where
 * nothing is. Free with g_free(). */
char *ald_member_broker_problem(AldMember *member, AldBroker *broker);
