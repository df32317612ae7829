/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <rdma/rdma_cma.h>

#include "probes/common/address.h"
#include "probes/rdma/port.h"

/* A connection made by rdma_cm, for transports that need it. It uses addresses of the interface of the
 * port. */
typedef struct AldRdmaCm {
        struct rdma_event_channel *events;
        struct rdma_cm_id *listener, *id;
        char address[ALD_ADDRESS_SIZE]; /* of the listener */
        uint64_t nonce;                 /* required from the client */
        int stop;
        AldFailure *failure;
} AldRdmaCm;

int ald_rdma_cm_open(AldRdmaCm *manager, int stop, AldFailure *failure);
void ald_rdma_cm_close(AldRdmaCm *manager);

/* Listens on an address of the port, preferably that of the control connection, and adds it to the offer. */
int ald_rdma_cm_listen(
        AldRdmaCm *manager, const AldVerbsPort *port, const AldAddress *control, AldRdmaOffer *offer);

/* Waits for the client with the right nonce; then manager->id can have a queue pair, and the client is
 * accepted. */
int ald_rdma_cm_wait_for_client(AldRdmaCm *manager);
int ald_rdma_cm_accept(AldRdmaCm *manager);

/* Finds the destinations of the accepted connection: GIDs, or with iWARP an address, mapped to IPv6. */
void ald_rdma_cm_find_destinations(const AldRdmaCm *manager, const AldVerbsPort *port, AldGids *ret);

/* Resolves the address of the offer through this port, and sets manager->id, which ald_rdma_cm_connect()
 * uses. */
int ald_rdma_cm_resolve(
        AldRdmaCm *manager, const AldVerbsPort *port, const AldAddress *control, const AldRdmaOffer *offer);
int ald_rdma_cm_connect(AldRdmaCm *manager, uint64_t nonce);
