/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "probes/rdma/manager.h"
#include "probes/rdma/pair.h"

#define ALD_TALK_PATIENCE (10 * ALD_NSEC_PER_SEC) /* beyond what a phase may take */

/* The messages of a session, which record/messages/rdma-session.xml describes in their order. */
extern const AldProtocol ald_rdma_protocol;

/* A session: a control connection, and the pair of ends of an RDMA connection that it is about. */
typedef struct AldTalk {
        AldChannel channel;
        AldPort port;
        AldPair pair;
        AldManager manager;
        AldGid own_gid, peer_gid;
        bool has_gid;
        unsigned turns;    /* since the last look at the clock, which may be slow */
        uint64_t looked;   /* when the control connection was last looked at */
        uint64_t patience; /* ns, of each phase */
        AldFailure *failure;
} AldTalk;

/* Reports to the other side why this one ends, if the connection still works. */
void ald_talk_abort(AldTalk *talk);

/* Waits for a message of this kind; ret may be NULL. */
int ald_talk_expect(AldTalk *talk, AldKind kind, AldRecord **ret);

/* Fails because the message does not belong here. */
int ald_talk_out_of_turn(AldTalk *talk);

/* To be called repeatedly while data flows: 1 with a message, 0 without one, otherwise a failure. With ret
 * NULL the message is dropped. */
int ald_talk_look(AldTalk *talk, uint64_t deadline, AldRecord **ret);

/*
 * After nothing was received: yields the processor until something is, or until it is time to look. A driver
 * without hardware needs the processor for the data.
 */
int ald_talk_rest(AldTalk *talk);

/* Connects the pair by the chosen GIDs, if ours still exists. */
int ald_talk_connect(AldTalk *talk);

/* Closes the control connection first, since closing the device may take long. */
void ald_talk_close(AldTalk *talk);
