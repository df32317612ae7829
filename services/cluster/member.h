/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/brokers.h"
#include "services/cluster/cluster-config.h"
#include "services/cluster/excess.h"
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
        void (*changed)(void *userdata); /* something that clients see */
        void (*renew)(void *userdata);   /* the status is to be that of a new instance */
        void *userdata;
} AldMemberSetup;

int ald_member_new(const AldMemberSetup *setup, const AldClusterConfig *config, AldMember **ret);
/* Says that this node is offline, and waits for at most 1.5 s until the brokers have it. */
void ald_member_free(AldMember *member);

/* How long a broker is left alone after another machine was found to speak under our id there. */
#define ALD_TWIN_USEC (300 * G_USEC_PER_SEC)

/* Whether that was found at each broker that could be reached, so that nothing is connected. */
bool ald_member_is_duplicate(AldMember *member);

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

/* -ENOENT, -EBUSY where that is not offline, -ENOTCONN without a broker, -ENOSPC where too many are
 * forgotten. */
int ald_member_forget(AldMember *member, const AldId *target);

/* What the broker on this machine refuses of others; *ret_n is how many. */
const AldExcess *ald_member_refused(const AldMember *member, size_t *ret_n);

AldVoice *ald_member_voice(AldMember *member);
AldBrokers *ald_member_brokers(AldMember *member);
AldReceiver *ald_member_receiver(AldMember *member);

/* What is wrong with a broker, also that what this node says does not reach the others through it; NULL where
 * nothing is. Free with g_free(). */
char *ald_member_broker_problem(AldMember *member, AldBroker *broker);
