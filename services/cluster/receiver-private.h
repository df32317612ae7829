/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/* Known to receiver*.c only. */
struct AldReceiver {
        AldId own;
        char *cluster;
        AldNodes *nodes;
        AldPresenceView view;
        uint64_t expiry_usec;
        uint64_t refused, refused_own;
        uint64_t logged;
        const AldReceiverHandler *handler;
        void *userdata;
};

/* Judges a node, and says so where the state service is to be told something new of it. */
void ald_receiver_judge_node(AldReceiver *receiver, AldClusterNode *node, uint64_t now, uint64_t real);
