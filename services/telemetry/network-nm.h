/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network-merge.h"

/*
 * What NetworkManager on the system bus tells, by libnm, kept live on the default main context. Neither it
 * nor the bus need be there; either may come and go. Lives in a module of its own, see network-nm-module.h.
 */
typedef struct AldNetworkNm AldNetworkNm;

AldNetworkNm *ald_network_nm_new(void (*changed)(void *userdata), void *userdata);
void ald_network_nm_free(AldNetworkNm *nm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkNm, ald_network_nm_free)

/* Good until the main loop runs again or this is called again. */
const AldManaged *ald_network_nm_read(AldNetworkNm *nm);

/* The above, as the module shows it to whoever loads it. */
typedef struct AldNetworkNmApi {
        AldNetworkNm *(*start)(void (*changed)(void *userdata), void *userdata);
        void (*stop)(AldNetworkNm *nm);
        const AldManaged *(*read)(AldNetworkNm *nm);
} AldNetworkNmApi;

extern const AldNetworkNmApi ald_network_nm_api;
