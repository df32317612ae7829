/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/brokers.h"
#include "services/cluster/forgets.h"
#include "services/cluster/own-status.h"
#include "services/cluster/publisher.h"

/*
 * What this node says in its cluster: its status to each broker; its records, heartbeats, revocation list and
 * the nodes it forgot to the first.
 */
typedef struct AldVoice AldVoice;

typedef struct AldVoiceSetup {
        const AldId *own;
        const char *cluster;
        AldBrokers *brokers;
        AldOwnStatus *status;
        const char *(*crl)(void *userdata); /* the newest revocation list, or NULL */
        void (*changed)(void *userdata);    /* whether a broker lets our publications through */
        void *userdata;
} AldVoiceSetup;

AldVoice *ald_voice_new(const AldVoiceSetup *setup);
void ald_voice_free(AldVoice *voice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldVoice, ald_voice_free)

/* Those of AldBrokersHandler. */
void ald_voice_connected(AldVoice *voice, AldBroker *broker);
void ald_voice_disconnected(AldVoice *voice, AldBroker *broker);
void ald_voice_first_changed(AldVoice *voice, AldBroker *first);

/* The records of this node, as the state service gives them. */
void ald_voice_begin(AldVoice *voice);
void ald_voice_record(AldVoice *voice, const AldUpdate *update);
void ald_voice_end(AldVoice *voice);

/* Whether the state service gives records that are all older than those known of this node, so that none is
 * said. */
bool ald_voice_is_behind(const AldVoice *voice);
/* The newest stamp known of this node, as a deletion that carries it. */
AldUpdate ald_voice_newest(const AldVoice *voice);
/* Takes the older ones from now on. */
void ald_voice_go_back(AldVoice *voice);
/* A record under our own id that a broker had kept. */
void ald_voice_found(AldVoice *voice, const AldUpdate *update);
/* One that a broker has just passed on. */
void ald_voice_heard(AldVoice *voice, const AldUpdate *update);
/* The names of kinds that the first broker does not pass on, or NULL. */
const char *ald_voice_unheard_kinds(const AldVoice *voice);

/* Whether what came just now, of the present epoch, cannot have been said by us. */
bool ald_voice_is_forged(const AldVoice *voice, const AldUpdate *update);

/* Says it to one broker. */
void ald_voice_say_to(AldVoice *voice, AldBroker *broker, AldPresenceSaid said);
/* Says it to all brokers. */
void ald_voice_say(AldVoice *voice, AldPresenceSaid said);

/* A list that is no older than ours came through a broker; whether it was news. Where the first broker keeps
 * it, nobody need say it there again. */
void ald_voice_heard_crl(AldVoice *voice, uint32_t broker, const char *pem, bool is_news);

/* Says that a node is forgotten, and takes it back. -ENOSPC where too many are. */
int ald_voice_forget(AldVoice *voice, const AldId *target, const AldForget *forget);
void ald_voice_unforget(AldVoice *voice, const AldId *target);
/* It was said before this service started. */
void ald_voice_found_forget(AldVoice *voice, const AldId *target, const AldForget *forget);

/* Now and then: clears what is older than the expiry time. */
void ald_voice_expire(AldVoice *voice, uint64_t expiry_usec);
