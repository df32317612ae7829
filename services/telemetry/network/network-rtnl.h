/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network/network-links.h"

/*
 * Keeps a table of links up to date by rtnetlink, in the main loop and without blocking it. A socket that
 * fails is opened again. Uses the network namespace of the caller.
 */
typedef struct AldNetworkRtnl AldNetworkRtnl;

/* `changed` is called when the table is first filled, and on change; the table must outlive this. */
AldNetworkRtnl *ald_network_rtnl_new(AldLinks *links, void (*changed)(void *userdata), void *userdata);
void ald_network_rtnl_free(AldNetworkRtnl *rtnl);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkRtnl, ald_network_rtnl_free)
