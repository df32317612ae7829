/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/address.h"
#include "services/common/service.h"

/*
 * Brokers that Avahi on the system bus finds: services of type _secure-mqtt._tcp that say cluster=NAME in
 * their TXT record, as alidadectl makes the host of a broker announce. Anybody on the network can claim that,
 * so the result is a hint where to look and nothing more. Avahi may come and go; what it had found stays
 * until it has looked again.
 */
typedef struct AldDiscovery AldDiscovery;

#define ALD_DISCOVERY_MAX 32u

/* All that are known at present, sorted, one address of each service. The array is valid during the call, and
 * never NULL. */
typedef void (*AldDiscovered)(const AldAddress *addresses, size_t n, void *userdata);

/* *ret is NULL where there is no system bus. */
int ald_discovery_new(AldService *service, const char *cluster, AldDiscovered discovered, void *userdata,
        AldDiscovery **ret);
void ald_discovery_free(AldDiscovery *discovery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDiscovery, ald_discovery_free)
