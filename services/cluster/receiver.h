/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/nodes.h"
#include "services/cluster/payload.h"
#include "services/cluster/topic.h"

/*
 * What comes from the brokers: decoded, judged and passed on. Nothing of it is believed beyond what its topic
 * says: a node speaks for itself only. What is bad is refused, counted by node, and logged now and then.
 */
typedef struct AldReceiver AldReceiver;

typedef struct AldReceived {
        uint32_t broker; /* which one; not 0 */
        uint64_t conn;   /* the connection that it came by */
        const char *topic;
        const char *payload;
        size_t size;
        bool retained;
} AldReceived;

typedef struct AldReceiverHandler {
        /* A record of another node, for the state service. */
        void (*record)(const AldUpdate *update, void *userdata);
        /* What the state service is to be told of a node has changed; called once until it was told. */
        void (*presence)(AldClusterNode *node, void *userdata);
        /* It is none of those any more that are heard, and what is known of it goes. */
        void (*dropped)(const AldId *id, void *userdata);
        /* A node is hidden from now on. */
        void (*forgotten)(AldClusterNode *node, void *userdata);
        /* A node lives of which records were left out; most of them will not come again by themselves. Not
         * more than once in 10 s for each. */
        void (*missed)(AldClusterNode *node, void *userdata);
        /* A revocation list; the result is why it is refused (g_malloc), or NULL. */
        char *(*crl)(const AldId *node, const AldReceived *received, void *userdata);

        /* Under our own id. */
        char *(*own_record)(const AldUpdate *update, const AldReceived *received,
                void *userdata); /* the result as that of crl */
        void (*own_status)(const AldNodeStatus *status, const AldReceived *received, void *userdata);
        void (*own_forget)(const AldId *target, const AldNodeForget *forget, void *userdata);

        /* When to call ald_receiver_judge() next, in µs of CLOCK_MONOTONIC. Called whenever that becomes
         * sooner; a judgement of all nodes sets it anew. */
        void (*due)(uint64_t usec, void *userdata);
} AldReceiverHandler;

/* The handler is kept, not copied. */
AldReceiver *ald_receiver_new(
        const AldId *own, const char *cluster, const AldReceiverHandler *handler, void *userdata);
void ald_receiver_free(AldReceiver *receiver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldReceiver, ald_receiver_free)

/* What nodes left that are silent for longer is ignored, and goes. */
void ald_receiver_set_expiry(AldReceiver *receiver, uint64_t expiry_usec);

/* Whether all is heard of other nodes, as from the start; otherwise they are dropped, and taken anew is what
 * ald_subscriptions_to_peers() brings. All are judged anew. */
void ald_receiver_set_mirroring(AldReceiver *receiver, bool mirroring, uint64_t now, uint64_t real);
/* Whether that is heard at all, as from the start. What still comes after a subscription ended is not taken.
 */
void ald_receiver_set_peers(AldReceiver *receiver, bool heard);

void ald_receiver_take(AldReceiver *receiver, const AldReceived *received, uint64_t now, uint64_t real);

/* The connection to that broker has ended. */
void ald_receiver_lose(AldReceiver *receiver, uint32_t broker, uint64_t now, uint64_t real);

/* Whether a broker is connected; none is at the start. Judges all nodes anew. */
void ald_receiver_set_connected(AldReceiver *receiver, bool connected, uint64_t now, uint64_t real);

/* Judges what may have changed by the passing of time. */
void ald_receiver_judge(AldReceiver *receiver, uint64_t now, uint64_t real);

/* From time to time: lets go of what is not heard of any more, and of the keys of links. */
void ald_receiver_expire(AldReceiver *receiver, uint64_t now);

/* Hides a node here, now or once it is offline, unless it speaks before. */
void ald_receiver_forget(
        AldReceiver *receiver, const AldId *target, const AldStamp *stamp, uint64_t now, uint64_t real);

/* The state service is new and knows nothing: each node is to be told again. */
void ald_receiver_tell_all(AldReceiver *receiver);

AldNodes *ald_receiver_nodes(AldReceiver *receiver);
/* Of all, and those under our own id. */
uint64_t ald_receiver_refused(const AldReceiver *receiver);
uint64_t ald_receiver_refused_own(const AldReceiver *receiver);
