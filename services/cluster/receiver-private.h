/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/* Known to receiver*.c only. */
struct AldReceiver {
        AldId own;
        char *cluster;
        AldNodes *nodes;
        AldPresenceView view;
        uint64_t due; /* when to judge next; UINT64_MAX: time alone changes nothing */
        uint64_t expiry_usec;
        bool no_peers;  /* nothing of other nodes is heard, unless all is */
        bool mirroring; /* other nodes, in all that they say */
        uint64_t refused, refused_own;
        uint64_t majority,
                majority_seen; /* how far most clocks are ahead of ours, and when that was last seen */
        uint64_t logged;
        int64_t clock; /* how far "real" was ahead of "now" at the last message; 0: there was none */
        const AldReceiverHandler *handler;
        void *userdata;
};

/* Call it before anything is judged. While this process was stopped it heard nobody, so the silence of the
 * others counts from now on. */
void ald_receiver_note_stop(AldReceiver *receiver, uint64_t now);

/* Whether our own clock was set since the last message; what was learnt from it is then set right. */
void ald_receiver_note_clock(AldReceiver *receiver, uint64_t now, uint64_t real);

/* Whether a time, or an epoch, is further ahead than can be. */
bool ald_receiver_is_ahead(AldReceiver *receiver, uint64_t usec, uint64_t now, uint64_t real);

/* Judges a node, and says so where the state service is to be told something new of it. */
void ald_receiver_judge_node(AldReceiver *receiver, AldClusterNode *node, uint64_t now, uint64_t real);
