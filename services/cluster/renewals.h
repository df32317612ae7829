/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "services/cluster/brokers.h"

/*
 * Certificates that renew themselves. Root's part of this machine (alidadectl cluster renew --auto) leaves
 * what it asks for, or has signed, in the folder of the cluster; this says it to the others, and keeps what
 * the others say in the folder of this service, where root's part finds it and verifies it. Nothing of it is
 * believed here beyond that it is ours to keep.
 *
 *   alidade/1/CLUSTER/ID/renewal          the request of a node
 *   alidade/1/CLUSTER/SIGNER/renewed/ID   the certificates that were signed for it
 */
typedef struct AldRenewals AldRenewals;

#define ALD_RENEWAL_MAX (16u * 1024) /* bytes of either */
/* Requests that wait to be signed, and how often one node may send a new one. */
#define ALD_RENEWALS_MAX 4096u
#define ALD_RENEWAL_TURN_USEC (60 * G_USEC_PER_SEC)

AldRenewals *ald_renewals_new(const AldId *own, const char *cluster, AldBrokers *brokers);
void ald_renewals_free(AldRenewals *renewals);

/* Subscriptions that this needs, unless everything is subscribed to; free with g_strfreev(). */
char **ald_renewals_filters(const AldRenewals *renewals);

/* Publishes what the folder of the cluster contains now. */
void ald_renewals_publish(AldRenewals *renewals);

/* Takes a message if it is about renewals, and returns whether it was. */
bool ald_renewals_take(
        AldRenewals *renewals, const char *topic, const char *payload, size_t size, gint64 now);
