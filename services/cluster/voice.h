/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/brokers.h"
#include "services/cluster/forgets.h"
#include "services/cluster/own-status.h"
#include "services/cluster/publisher.h"

/*
 * What this node publishes: its status to each broker; its records, heartbeats, revocation list and
 * forgotten nodes to the first one.
 */
typedef struct AldVoice AldVoice;

typedef struct AldVoiceSetup {
        const AldId *own;
        const char *cluster;
        AldBrokers *brokers;
        AldOwnStatus *status;
        const char *(*crl)(void *userdata); /* the newest revocation list, or NULL */
        void (*changed)(void *userdata);    /* whether a broker delivers our messages may have changed */
        void *userdata;
} AldVoiceSetup;

AldVoice *ald_voice_new(const AldVoiceSetup *setup);
void ald_voice_free(AldVoice *voice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldVoice, ald_voice_free)

/* The callbacks of AldBrokersHandler. */
void ald_voice_connected(AldVoice *voice, AldBroker *broker);
void ald_voice_disconnected(AldVoice *voice, AldBroker *broker);
void ald_voice_first_changed(AldVoice *voice, AldBroker *first);

/* The records of this node, from the state service. */
void ald_voice_begin(AldVoice *voice);
void ald_voice_record(AldVoice *voice, const AldUpdate *update);
void ald_voice_end(AldVoice *voice);

/* Whether all records from the state service are older than those known of this node, so that none is
 * published. */
bool ald_voice_is_behind(const AldVoice *voice);
/* The newest known stamp of this node, in a deletion. */
AldUpdate ald_voice_newest(const AldVoice *voice);
/* Accepts the older ones from now on. */
void ald_voice_go_back(AldVoice *voice);
/* A record under our own id that a broker had stored. */
void ald_voice_found(AldVoice *voice, const AldUpdate *update);

/* Whether a live record of the present epoch cannot have been published by this node. */
bool ald_voice_is_forged(const AldVoice *voice, const AldUpdate *update);

/* Publishes the status to one broker. */
void ald_voice_say_to(AldVoice *voice, AldBroker *broker, AldNodeStatusState said);
/* Publishes the status to all brokers. */
void ald_voice_say(AldVoice *voice, AldNodeStatusState said);

/* A list not older than ours arrived through a broker, and whether it was new to us. If the first broker
 * already has it, no node needs to publish it there. */
void ald_voice_heard_crl(AldVoice *voice, uint32_t broker, const char *pem, bool is_news);

/* Publishes that a node is forgotten, or withdraws that. Returns -ENOSPC if too many are. */
int ald_voice_forget(AldVoice *voice, const AldId *target, const AldNodeForget *forget);
void ald_voice_unforget(AldVoice *voice, const AldId *target);
/* It was published before this service started. */
void ald_voice_found_forget(AldVoice *voice, const AldId *target, const AldNodeForget *forget);

/* Call it from time to time: clears what is older than the expiry time. */
void ald_voice_expire(AldVoice *voice, uint64_t expiry_usec);
