/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/broker-address.h"
#include "services/common/service.h"

/*
 * Finds brokers through Avahi on the system bus: services of type _secure-mqtt._tcp with cluster=NAME in
 * their TXT record, which the host of a broker announces once alidadectl has set it up. Anyone on the network
 * can announce that, so the results are only hints. If Avahi restarts, its earlier results remain until it
 * has browsed again.
 */
typedef struct AldDiscovery AldDiscovery;

#define ALD_DISCOVERY_MAX 32u

/* Reports all brokers known at present, sorted, with one address for each service. The array is valid during
 * the call and never NULL. */
typedef void (*AldDiscovered)(const AldBrokerAddress *addresses, size_t n, void *userdata);

/* Leaves *ret untouched and returns 0 if there is no system bus. */
int ald_discovery_new(AldService *service, const char *cluster, AldDiscovered discovered, void *userdata,
        AldDiscovery **ret);
void ald_discovery_free(AldDiscovery *discovery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDiscovery, ald_discovery_free)
