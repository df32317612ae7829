/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "probes/rdma/manager.h"
#include "probes/rdma/pair.h"

#define ALD_TALK_PATIENCE (10 * ALD_NSEC_PER_SEC) /* beyond what a phase may take */

/* A session: the control connection beside the pair that it is about. */
typedef struct AldTalk {
        AldChannel channel;
        AldPort port;
        AldPair pair;
        AldManager manager;
        AldGid own_gid, peer_gid;
        bool has_gid;
        unsigned turns;    /* without a look at the clock, which may be slow */
        uint64_t looked;   /* when it was last looked for what happens beside the data */
        uint64_t patience; /* ns, of each phase */
        AldFailure *failure;
} AldTalk;

int ald_talk_say(AldTalk *talk, const AldRdmaMessage *message);

/* Tells the other side why this one ends, if it can be told. */
void ald_talk_abort(AldTalk *talk);

/* Waits for a message of this type. */
int ald_talk_expect(AldTalk *talk, AldRdmaMessageType type, AldRdmaMessage *ret);

/* While data flows, from time to time: 1 with a message, 0 where there is none; the rest is a failure. */
int ald_talk_look(AldTalk *talk, uint64_t deadline, AldRdmaMessage *ret);

/*
 * Where nothing has been received: gives the processor away until something is, or it is time to look. A
 * driver without hardware needs it for the data.
 */
int ald_talk_rest(AldTalk *talk);

/* Connects the pair by the GIDs that were chosen, if ours is still there. */
int ald_talk_connect(AldTalk *talk);

/* The other side hears of it before the device is given back, which may take long. */
void ald_talk_close(AldTalk *talk);
