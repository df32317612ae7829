/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "services/cluster/mqtt/brokers.h"

/*
 * Automatic renewal of certificates. The part that runs as root (alidade-cluster renew --auto) writes its
 * request, or what it has signed, to the folder of the cluster; this publishes it to the other nodes, and
 * stores what they publish in the folder of this service, where the part that runs as root reads and verifies
 * it. Nothing is verified here except that it is meant for this node.
 *
 *   alidade/1/CLUSTER/ID/renewal          the request of a node
 *   alidade/1/CLUSTER/SIGNER/renewed/ID   the certificates that were signed for it
 */
typedef struct AldRenewals AldRenewals;

#define ALD_RENEWAL_MAX (16u * 1024) /* limit of a request or an answer, in bytes */
/* Limits of pending requests, and how often one node may send a new one. */
#define ALD_RENEWALS_MAX 4096u
#define ALD_RENEWAL_INTERVAL_USEC (60 * G_USEC_PER_SEC)

AldRenewals *ald_renewals_new(const AldId *own, const char *cluster, AldBrokers *brokers);
void ald_renewals_free(AldRenewals *renewals);

/* Returns the filters that are needed unless everything is subscribed to; free with g_strfreev(). */
char **ald_renewals_filters(const AldRenewals *renewals);

/* Publishes what the folder of the cluster contains now. */
void ald_renewals_publish(AldRenewals *renewals);

/* Takes a message if it is about renewals, and returns whether it was. */
bool ald_renewals_take(AldRenewals *renewals, const AldReceived *received, gint64 now);
