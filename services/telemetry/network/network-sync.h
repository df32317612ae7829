/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/network/network-links.h"

/*
 * Keeps a table of links in sync with the kernel: decides which dump to request next, processes the answers,
 * and decides when to request everything again. It has no socket and no clock.
 */
typedef struct AldNetworkSync AldNetworkSync;

typedef enum AldNetworkSyncDo {
        ALD_NETWORK_SYNC_TELL = 1 << 0,  /* the table, complete since the first round, has changed */
        ALD_NETWORK_SYNC_ASK = 1 << 1,   /* send the next request now */
        ALD_NETWORK_SYNC_AGAIN = 1 << 2, /* call ald_network_sync_begin() after a while */
        ALD_NETWORK_SYNC_WELL = 1 << 3,  /* a round succeeded, so the next pause may be short */
} AldNetworkSyncDo;

AldNetworkSync *ald_network_sync_new(AldLinks *links);
void ald_network_sync_free(AldNetworkSync *sync);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkSync, ald_network_sync_free)

/* Starts a new round of dumps, whatever the state of the last one. The caller then sends the first
 * request. */
void ald_network_sync_begin(AldNetworkSync *sync);

#define ALD_NETWORK_SYNC_REQUEST_MAX 256u

/* Writes the request that is due into an aligned buffer of that size. Returns its length. */
size_t ald_network_sync_request(AldNetworkSync *sync, void *buffer);

/* Processes one datagram of the kernel, aligned for a netlink header. Returns AldNetworkSyncDo flags. */
unsigned ald_network_sync_feed(AldNetworkSync *sync, const void *datagram, size_t size);

/* Takes note that messages were lost. Returns AldNetworkSyncDo flags. */
unsigned ald_network_sync_lost(AldNetworkSync *sync);
