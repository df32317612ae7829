/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/received.h"
#include "services/cluster/mqtt/topic.h"
#include "services/cluster/peers/payload.h"
#include "services/cluster/peers/peer-nodes.h"

/*
 * Decodes and checks messages from the brokers, and passes them on. A node may only publish about itself,
 * under its own topics. Bad messages are refused, counted for each node, and logged at a limited rate.
 */
typedef struct AldReceiver AldReceiver;

typedef struct AldReceiverHandler {
        /* Passes on a record of another node to the state service. */
        void (*record)(const AldUpdate *update, void *userdata);
        /* The presence of a node has changed, and is to be sent to the state service. Not called again for
         * the node until that was sent. */
        void (*presence)(AldClusterNode *node, void *userdata);
        /* The node is no longer received, and its records are to be dropped. */
        void (*dropped)(const AldId *id, void *userdata);
        /* The node is hidden from now on. */
        void (*forgotten)(AldClusterNode *node, void *userdata);
        /* Some records of a node that is online were skipped earlier, or have not arrived; most of them will
         * not be sent again unless requested. Called at most every 10 s for each node. */
        void (*missed)(AldClusterNode *node, void *userdata);
        /* Takes a revocation list; returns why it is refused (g_malloc), or NULL. */
        char *(*crl)(const AldId *node, const AldReceived *received, void *userdata);

        /* Take messages under our own id. */
        char *(*own_record)(const AldUpdate *update, const AldReceived *received,
                void *userdata); /* returns the same as crl */
        void (*own_status)(const AldNodeStatus *status, const AldReceived *received, void *userdata);
        void (*own_forget)(const AldId *target, const AldNodeForget *forget, void *userdata);

        /* Sets when to call ald_receiver_update_presences() next, in µs of CLOCK_MONOTONIC. Called whenever
         * that becomes sooner; updating presences sets it again. */
        void (*due)(uint64_t usec, void *userdata);
} AldReceiverHandler;

/* The handler is kept, not copied. */
AldReceiver *ald_receiver_new(
        const AldId *own, const char *cluster, const AldReceiverHandler *handler, void *userdata);
void ald_receiver_free(AldReceiver *receiver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldReceiver, ald_receiver_free)

/* Sets how long a node may be silent before its records are ignored and dropped. */
void ald_receiver_set_expiry(AldReceiver *receiver, uint64_t expiry_usec);

/* Sets whether everything from other nodes is received, as at the start. Otherwise they are dropped, and only
 * what ald_subscriptions_to_peers() delivers is accepted. Updates the presence of all nodes. */
void ald_receiver_set_mirroring(AldReceiver *receiver, bool mirroring, uint64_t now, uint64_t real);
/* Sets whether even that is received, as at the start. Messages that arrive after a subscription has ended
 * are ignored. */
void ald_receiver_set_peers(AldReceiver *receiver, bool heard);

void ald_receiver_take(AldReceiver *receiver, const AldReceived *received, uint64_t now, uint64_t real);

/* Takes note that the connection to that broker has ended. */
void ald_receiver_lose(AldReceiver *receiver, uint32_t broker, uint64_t now, uint64_t real);

/* Sets whether a broker is connected; none is at the start. Updates the presence of all nodes. */
void ald_receiver_set_connected(AldReceiver *receiver, bool connected, uint64_t now, uint64_t real);

/* Updates the presence of all nodes, which may have changed as time passed. */
void ald_receiver_update_presences(AldReceiver *receiver, uint64_t now, uint64_t real);

/* Drops nodes that have been silent for long, and the keys of links. Call it from time to time. */
void ald_receiver_expire(AldReceiver *receiver, uint64_t now);

/* Hides a node here, now or once it is offline, unless it is heard before. */
void ald_receiver_forget(
        AldReceiver *receiver, const AldId *target, const AldStamp *stamp, uint64_t now, uint64_t real);

/* Returns whether a node may be forgotten now: ald_node_may_be_forgotten() with the view of this service. */
bool ald_receiver_may_forget(const AldReceiver *receiver, const AldClusterNode *node, uint64_t now);

/* Reports the presence of each node again, after the state service was restarted. */
void ald_receiver_report_all_again(AldReceiver *receiver);

/* Starts counting the records of each node anew, since the brokers send everything that is retained. If some
 * of it is lost, that is noticed. */
void ald_receiver_expect_all(AldReceiver *receiver);

AldNodes *ald_receiver_nodes(AldReceiver *receiver);
/* Return how many messages were refused in all, and under our own id. */
uint64_t ald_receiver_refused(const AldReceiver *receiver);
uint64_t ald_receiver_refused_own(const AldReceiver *receiver);
