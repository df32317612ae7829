/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/address.h"

/* A service that Avahi sees on one interface and by one protocol; the same one is seen many times over. */
typedef struct AldFoundService {
        int32_t interface, protocol;
        char *name, *domain;
        bool ours; /* of the cluster, at this address: */
        AldAddress address;
} AldFoundService;

bool ald_found_same_service(const AldFoundService *a, const AldFoundService *b);

/*
 * Sorts an array of AldFoundService *, and picks one address of each service of ours: IPv4 before IPv6, and
 * what is good on one network only at last. Returns how many there are, `max` at the most.
 */
size_t ald_found_choose(GPtrArray *services, AldAddress ret[], size_t max);

/* The address that Avahi told, with the interface where it means nothing without. -ENODEV where that is gone,
 * -EINVAL for what is no address or a port of 0. */
int ald_found_read_address(int32_t interface, const char *host, uint16_t port, AldAddress *ret);
