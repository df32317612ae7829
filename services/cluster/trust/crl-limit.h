/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/receiver.h"

/*
 * Limits how often revocation lists are read. Reading one takes milliseconds of the main loop, and any node
 * may publish one. A few lists of each node are read at once, and then one every ten seconds; of the lists
 * that arrive in between, the newest waits.
 */
typedef struct AldCrlLimit AldCrlLimit;

#define ALD_CRL_INTERVAL_USEC (10 * G_USEC_PER_SEC)
#define ALD_CRL_BURST 4 /* lists, as when several nodes are revoked one after the other */
/* Limit of the waiting lists of all nodes, in bytes. */
#define ALD_CRL_WAITING_BYTES (16u * 1024 * 1024)

/* Passes a list that has waited to the receiver, marked as retained, since it no longer shows that the
 * node is alive. */
typedef void (*AldCrlLimitTake)(const AldReceived *received, void *userdata);

AldCrlLimit *ald_crl_limit_new(AldCrlLimitTake take, void *userdata);
void ald_crl_limit_free(AldCrlLimit *limit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldCrlLimit, ald_crl_limit_free)

/* Returns 1 if this list of a node may be read now, 0 if a copy of it waits, -ENOBUFS if there is no
 * room. */
int ald_crl_limit_take(AldCrlLimit *limit, const AldId *node, const AldReceived *received, gint64 now);

/* Passes on the lists that may be read by now. The main loop also does this by itself. */
void ald_crl_limit_advance(AldCrlLimit *limit, gint64 now);
