/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network/network-merge.h"

/*
 * The data of NetworkManager on the system bus, kept up to date by libnm in the default main context.
 * NetworkManager and the bus may be missing, and may come and go. It is in a module of its own, which
 * network-collector.c loads.
 */
typedef struct AldNetworkNm AldNetworkNm;

AldNetworkNm *ald_network_nm_new(void (*changed)(void *userdata), void *userdata);
void ald_network_nm_free(AldNetworkNm *nm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkNm, ald_network_nm_free)

/* Returns the present data, which is valid until the main loop runs again or this is called again. */
const AldManaged *ald_network_nm_read(AldNetworkNm *nm);

/* The functions above, as exported by the module. */
typedef struct AldNetworkNmApi {
        AldNetworkNm *(*start)(void (*changed)(void *userdata), void *userdata);
        void (*stop)(AldNetworkNm *nm);
        const AldManaged *(*read)(AldNetworkNm *nm);
} AldNetworkNmApi;

extern const AldNetworkNmApi ald_network_nm_api;
