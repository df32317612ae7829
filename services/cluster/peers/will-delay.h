/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/receiver.h"

/*
 * A broker that shuts down publishes the wills of all its clients before it closes their connections,
 * although none of them has died. A message that another node is offline is therefore held for a moment, and
 * dropped if the broker that sent it goes away.
 */
typedef struct AldWillDelay AldWillDelay;

#define ALD_WILL_DELAY_USEC (250 * 1000)
/* Limit of held messages, enough for the wills of all nodes at once. */
#define ALD_WILL_DELAY_MAX ALD_NODES_MAX

/* Passes a message that was held to the receiver. */
typedef void (*AldWillDelayTake)(const AldReceived *received, void *userdata);

AldWillDelay *ald_will_delay_new(AldWillDelayTake take, void *userdata);
void ald_will_delay_free(AldWillDelay *will_delay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWillDelay, ald_will_delay_free)

/* Holds a copy of the will of another node. Returns false for any other message, which is to be processed at
 * once. */
bool ald_will_delay_hold(AldWillDelay *will_delay, const AldReceived *received, const char *cluster,
        const AldId *own, gint64 now);

/* Drops the messages of that broker. */
void ald_will_delay_lose(AldWillDelay *will_delay, uint32_t broker);
