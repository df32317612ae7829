/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/broker-address.h"

/* A service as Avahi sees it on one interface and over one protocol; the same service may be seen many
 * times. */
typedef struct AldFoundService {
        int32_t interface, protocol;
        char *name, *domain;
        bool ours; /* belongs to the cluster, and has the following address */
        AldBrokerAddress address;
} AldFoundService;

bool ald_found_same_service(const AldFoundService *a, const AldFoundService *b);

/*
 * Sorts an array of AldFoundService * and picks one address for each service of the cluster: IPv4 first,
 * then IPv6, link-local addresses last. Returns their number, `max` at most.
 */
size_t ald_found_choose(GPtrArray *services, AldBrokerAddress ret[], size_t max);

/* Reads an address from Avahi, and adds the interface if the address needs it. Returns -ENODEV if that
 * interface is gone, -EINVAL if it is not an address or the port is 0. */
int ald_found_read_address(int32_t interface, const char *host, uint16_t port, AldBrokerAddress *ret);
