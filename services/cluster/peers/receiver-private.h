/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/receiver.h"

/* Private to receiver*.c. */
struct AldReceiver {
        AldId own;
        char *cluster;
        AldNodes *nodes;
        AldPresenceView view;
        uint64_t due; /* when to update presences next; UINT64_MAX: never */
        uint64_t expiry_usec;
        bool no_peers;  /* nothing from other nodes is received, unless mirroring */
        bool mirroring; /* everything from other nodes is received */
        uint64_t refused, refused_own;
        uint64_t majority,
                majority_seen; /* how far most clocks are ahead of ours, and when that was last computed */
        uint64_t logged;
        int64_t clock; /* how far "real" was ahead of "now" at the last message; 0: there was none */
        const AldReceiverHandler *handler;
        void *userdata;
};

/* Detects that this process was stopped. It could not hear other nodes then, so their silence counts from now
 * on. Call it before presences are updated. */
void ald_receiver_note_stop(AldReceiver *receiver, uint64_t now);

/* Corrects derived times if our own clock was set since the last message. */
void ald_receiver_note_clock(AldReceiver *receiver, uint64_t now, uint64_t real);

/* Returns whether a time or an epoch is implausibly far ahead. */
bool ald_receiver_is_ahead(AldReceiver *receiver, uint64_t usec, uint64_t now, uint64_t real);

/* Updates the presence of a node, and reports it if there is something new for the state service. */
void ald_receiver_update_node(AldReceiver *receiver, AldClusterNode *node, uint64_t now, uint64_t real);
