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

/* Private to member*.c. */
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
        AldTimer *duplicate_timer; /* checks again whether another machine still uses our id */
        AldTimer *answer_timer;
        gint64 answered; /* when we last answered a message that someone else published under our id */
        bool answers, renews;
        uint32_t forged_by; /* the broker through which someone else used our id, or 0 */
        uint32_t exceeded;  /* the broker that refuses messages of one node, or 0 */
        AldId over_quota;   /* the node whose messages it refuses */
        AldQuotaReportRow refused[ALD_QUOTA_REPORT_NODES]; /* nodes that the broker on this machine refuses */
        size_t n_refused;
        bool mirroring, has_peers;
        uint64_t dropped; /* messages that the inbox has dropped, when last checked */
        guint expire_timer, reconnect_timer;
};

/* Callbacks of the brokers and of the receiver. */
extern const AldBrokersHandler ald_member_brokers_handler;
extern const AldReceiverHandler ald_member_receiver_handler;

/* Reports that something changed that clients see. It has the signature of the callbacks, to be used as
 * one. */
void ald_member_changed(void *userdata);
/* Reconnects, as a new instance, to the brokers at which another machine used our id: what brokers have
 * stored from before proves nothing then. Returns false if there are none. */
bool ald_member_end_duplicates(AldMember *member);
/* Disconnects for a while from a broker at which another machine uses our id. */
void ald_member_leave_for_duplicate(AldMember *member, AldBroker *broker);
/* Publishes our status again after someone else published one under our id, at a limited rate. `renew` makes
 * us a new instance, because ours was used. */
void ald_member_answer_foreign_status(AldMember *member, bool renew);
/* Callbacks of the timers. */
void ald_member_on_duplicate_timer(void *userdata);
void ald_member_on_answer(void *userdata);
/* Passes a message of a broker to the receiver, either at once or after it was held back. */
void ald_member_receive(const AldReceived *received, void *userdata);
