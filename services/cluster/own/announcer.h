/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/brokers.h"
#include "services/cluster/own/own-status.h"
#include "services/cluster/own/publisher.h"
#include "services/cluster/peers/payload.h"
#include "services/cluster/trust/trust.h"

/*
 * Publishes the status of this node to each broker, and its records, heartbeats, revocation list and
 * forgotten nodes to the first one.
 */
typedef struct AldAnnouncer AldAnnouncer;

typedef struct AldAnnouncerSetup {
        const AldId *own;
        const char *cluster;
        AldBrokers *brokers;
        AldOwnStatus *status;
        const AldTrust *trust;
        void (*changed)(void *userdata); /* a broker may have begun or ceased to deliver our messages */
        void *userdata;
} AldAnnouncerSetup;

AldAnnouncer *ald_announcer_new(const AldAnnouncerSetup *setup);
void ald_announcer_free(AldAnnouncer *announcer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldAnnouncer, ald_announcer_free)

/* Callbacks of AldBrokersHandler. */
void ald_announcer_connected(AldAnnouncer *announcer, AldBroker *broker);
void ald_announcer_disconnected(AldAnnouncer *announcer, AldBroker *broker);
void ald_announcer_first_changed(AldAnnouncer *announcer, AldBroker *first);

/* Take the records of this node from the state service: begin, each record, and end. */
void ald_announcer_begin(AldAnnouncer *announcer);
void ald_announcer_record(AldAnnouncer *announcer, const AldUpdate *update);
void ald_announcer_end(AldAnnouncer *announcer);

/* Returns whether all records from the state service are older than those known of this node, so that none is
 * published. */
bool ald_announcer_is_behind(const AldAnnouncer *announcer);
/* Returns a deletion with the newest known stamp of this node. */
AldUpdate ald_announcer_newest(const AldAnnouncer *announcer);
/* Accepts the older records from now on. */
void ald_announcer_accept_older_epoch(AldAnnouncer *announcer);
/* Takes note of a record under our own id that a broker had stored. */
void ald_announcer_note_stored(AldAnnouncer *announcer, const AldUpdate *update);
/* Takes note of a record under our own id that a broker has just passed on. */
void ald_announcer_note_echo(AldAnnouncer *announcer, const AldUpdate *update);
/* Returns the names of the kinds that the first broker does not pass on, or NULL. */
const char *ald_announcer_unheard_kinds(const AldAnnouncer *announcer);

/* Returns whether a live record of the present epoch cannot have been published by this node. */
bool ald_announcer_is_forged(const AldAnnouncer *announcer, const AldUpdate *update);

/* Publishes the status to one broker. */
void ald_announcer_publish_status_to(AldAnnouncer *announcer, AldBroker *broker, AldNodeStatusState state);
/* Publishes the status to all brokers. */
void ald_announcer_publish_status(AldAnnouncer *announcer, AldNodeStatusState state);

/* Takes note that a list not older than ours arrived through a broker; `is_news` if it was new to us. If the
 * first broker already has it, no node needs to publish it there. */
void ald_announcer_heard_crl(AldAnnouncer *announcer, uint32_t broker, const char *pem, bool is_news);

/* Publish that a node is forgotten, and withdraw that. The first returns -ALD_E_COMMON_LIMIT if too many are
 * forgotten. */
int ald_announcer_forget(AldAnnouncer *announcer, const AldId *target, const AldNodeForget *forget);
void ald_announcer_unforget(AldAnnouncer *announcer, const AldId *target);
/* Takes note of a forgotten node that was published before this service started. */
void ald_announcer_found_forget(AldAnnouncer *announcer, const AldId *target, const AldNodeForget *forget);

/* Clears what is older than the expiry time. Call it from time to time. */
void ald_announcer_expire(AldAnnouncer *announcer, uint64_t expiry_usec);
