/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/*
 * A broker that is stopped in order publishes the wills of all its clients before it closes their
 * connections, and yet nobody has died. So the word that another node is offline waits a moment, and goes
 * where the broker that brought it goes.
 */
typedef struct AldWills AldWills;

#define ALD_WILLS_USEC (250 * 1000)
/* That of every node at once. */
#define ALD_WILLS_MAX ALD_NODES_MAX

/* What has waited, for the receiver. */
typedef void (*AldWillsTake)(const AldReceived *received, void *userdata);

AldWills *ald_wills_new(AldWillsTake take, void *userdata);
void ald_wills_free(AldWills *wills);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWills, ald_wills_free)

/* Keeps a copy, where it is one of another node; false where it is not, and goes on at once. */
bool ald_wills_hold(
        AldWills *wills, const AldReceived *received, const char *cluster, const AldId *own, gint64 now);

/* Drops what came through that broker. */
void ald_wills_lose(AldWills *wills, uint32_t broker);
