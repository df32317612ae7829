/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/crl-turns.h"
#include "services/cluster/discovery-bus.h"
#include "services/cluster/judging.h"
#include "services/cluster/listening.h"
#include "services/cluster/member.h"
#include "services/cluster/past.h"
#include "services/cluster/wills.h"

/* Known to member*.c only. */
struct AldMember {
        AldMemberSetup setup;
        AldId own;
        char *cluster;
        uint64_t expiry_usec;
        AldBrokers *brokers;
        AldVoice *voice;
        AldReceiver *receiver;
        AldJudging *judging;
        AldListening *listening;
        AldWills *wills;
        AldCrlTurns *crl_turns;
        AldPast *past;
        AldDiscovery *discovery;
        uint32_t forged_by; /* the broker through which somebody else spoke under our id, or 0 */
        bool mirroring, has_peers;
        uint64_t dropped; /* by the inbox, as last seen */
        guint expire_timer, reconnect_timer;
};

/* What the brokers, and the receiver, tell a member. */
extern const AldBrokersHandler ald_member_brokers_handler;
extern const AldReceiverHandler ald_member_receiver_handler;

void ald_member_changed(AldMember *member);
/* A message of a broker, now or after it was held back. */
void ald_member_take(const AldReceived *received, void *userdata);
