/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/member.h"
#include "services/cluster/mqtt/discovery-bus.h"
#include "services/cluster/own/stale-own-records.h"
#include "services/cluster/peers/presence-timer.h"
#include "services/cluster/peers/quota-report.h"
#include "services/cluster/peers/will-delay.h"
#include "services/cluster/subscriber.h"
#include "services/cluster/trust/crl-limit.h"
#include "services/cluster/trust/renewals.h"
#include "services/common/timer.h"

/* For member*.c only. */
struct AldMember {
        AldMemberSetup setup;
        AldId own;
        char *cluster;
        uint64_t expiry_usec;
        AldBrokers *brokers;
        AldAnnouncer *announcer;
        AldReceiver *receiver;
        AldPresenceTimer *presence_timer;
        AldSubscriber *subscriber;
        AldWillDelay *will_delay;
        AldCrlLimit *crl_limit;
        AldStaleOwnRecords *stale;
        AldRenewals *renewals;
        AldDiscovery *discovery;
        AldTimer *twin_timer; /* checks again whether another machine still uses our id */
        AldTimer *answer_timer;
        gint64 answered; /* when we last answered someone else who used our id */
        bool answers, renews;
        uint32_t forged_by; /* the broker through which someone else used our id, or 0 */
        uint32_t exceeded;  /* the broker that refuses much of one node, or 0 */
        AldId over_quota;   /* that node */
        AldQuotaReportRow refused[ALD_QUOTA_REPORT_NODES]; /* by the broker on this machine */
        size_t n_refused;
        bool mirroring, has_peers;
        uint64_t dropped; /* by the inbox, as last seen */
        guint expire_timer, reconnect_timer;
};

/* The callbacks of the brokers and of the receiver. */
extern const AldBrokersHandler ald_member_brokers_handler;
extern const AldReceiverHandler ald_member_receiver_handler;

/* Something changed that clients see; also for callbacks. */
void ald_member_changed(void *userdata);
/* Connects to the brokers again at which another machine used our id, if there are any, as a new instance:
 * what brokers keep from before then proves nothing. Whether there were any. */
bool ald_member_end_twins(AldMember *member);
/* Another machine uses our id at that broker: disconnects from it for a while. */
void ald_member_meet_twin(AldMember *member, AldBroker *broker);
/* Publishes our status again after someone else published one under our id; as a new instance if ours was
 * used. */
void ald_member_answer(AldMember *member, bool renew);
/* For the timers. */
void ald_member_on_twin(void *userdata);
void ald_member_on_answer(void *userdata);
/* A message of a broker, now or after it was held back. */
void ald_member_take(const AldReceived *received, void *userdata);
