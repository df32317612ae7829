/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/*
 * To read a revocation list takes milliseconds of the main loop, and any node may say one. So of each node
 * some are read at once, and then one in ten seconds; of those that come meanwhile the newest waits.
 */
typedef struct AldCrlTurns AldCrlTurns;

#define ALD_CRL_TURN_USEC (10 * G_USEC_PER_SEC)
#define ALD_CRL_BURST 4 /* as when several nodes are revoked one after the other */
/* What waits, of all nodes. */
#define ALD_CRL_WAITING_BYTES (16u * 1024 * 1024)

/* What has waited, for the receiver, as a retained message: it is no sign of life any more. */
typedef void (*AldCrlTurnsTake)(const AldReceived *received, void *userdata);

AldCrlTurns *ald_crl_turns_new(AldCrlTurnsTake take, void *userdata);
void ald_crl_turns_free(AldCrlTurns *turns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldCrlTurns, ald_crl_turns_free)

/* 1 where this list of a node may be read now. 0 where a copy of it waits, -ENOBUFS where there is no room.
 */
int ald_crl_turns_take(AldCrlTurns *turns, const AldId *node, const AldReceived *received, gint64 now);

/* Those that may be read by now; the loop does it by itself. */
void ald_crl_turns_advance(AldCrlTurns *turns, gint64 now);
