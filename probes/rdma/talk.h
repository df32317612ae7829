/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "probes/rdma/manager.h"
#include "probes/rdma/pair.h"

#define ALD_TALK_PATIENCE (10 * ALD_NSEC_PER_SEC) /* beyond what a phase may take */

/*
 * A session: a control connection, and the pair of ends of an RDMA connection that it is about. Its messages
 * are described in record/messages/rdma-session.xml; a frame is one of them with its name.
 *
 *   server                          client
 *                                   RdmaHello (with the port to measure to)
 *   RdmaOffer, or RdmaAbort
 *                                   RdmaUse, RdmaReady
 *   RdmaReady                                       both ends are connected now
 *                                   RdmaPhase (ping, read, upload, download: in this order, each at most
 *                                   once, and none before a ping with the nonce of the server has arrived by
 *                                   each queue pair)
 *   RdmaGo
 *   RdmaStop                        RdmaStop        from the receiver of a direction
 *   RdmaDrained                     RdmaDrained     from its sender
 *   RdmaStop                                        once more after an upload
 *                                   RdmaPhase (done)
 *   RdmaAbort                       RdmaAbort       at any time
 */
#define ALD_RDMA_PROTOCOL 3u

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

/* Sends the struct of this kind. */
int ald_talk_say(AldTalk *talk, AldKind kind, const void *fields);

/* Reports to the other side why this one ends, if the connection still works. */
void ald_talk_abort(AldTalk *talk);

/* The message of a frame, of any kind above; errors as ald_message_parse_named() returns them. */
int ald_talk_parse(const char *text, size_t n, AldRecord **ret, char **ret_reason);

/* Waits for a message of this kind; ret may be NULL. */
int ald_talk_expect(AldTalk *talk, AldKind kind, AldRecord **ret);

/* Fails if the other side speaks another version of the protocol. */
int ald_talk_check_version(AldTalk *talk, uint64_t version);

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
