/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/*
 * A broker that shuts down publishes the wills of all its clients before it closes their connections,
 * although none of them has died. A message that another node is offline is therefore held for a moment, and
 * dropped if the broker that sent it goes away.
 */
typedef struct AldWills AldWills;

#define ALD_WILLS_USEC (250 * 1000)
/* Enough for the wills of all nodes at once. */
#define ALD_WILLS_MAX ALD_NODES_MAX

/* Passes a message that was held to the receiver. */
typedef void (*AldWillsTake)(const AldReceived *received, void *userdata);

AldWills *ald_wills_new(AldWillsTake take, void *userdata);
void ald_wills_free(AldWills *wills);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWills, ald_wills_free)

/* Holds a copy if it is a will of another node; else returns false, and the message is to be processed at
 * once. */
bool ald_wills_hold(
        AldWills *wills, const AldReceived *received, const char *cluster, const AldId *own, gint64 now);

/* Drops the messages of that broker. */
void ald_wills_lose(AldWills *wills, uint32_t broker);
