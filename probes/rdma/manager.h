/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <rdma/rdma_cma.h>

#include "probes/common/address.h"
#include "probes/rdma/port.h"

/* A connection made by rdma_cm, for transports that know no other way: by addresses of the port's interface.
 */
typedef struct AldManager {
        struct rdma_event_channel *events;
        struct rdma_cm_id *listener, *id;
        char address[ALD_ADDRESS_SIZE]; /* of the listener */
        uint64_t nonce;                 /* that it accepts */
        int stop;
        AldFailure *failure;
} AldManager;

int ald_manager_open(AldManager *manager, int stop, AldFailure *failure);
void ald_manager_close(AldManager *manager);

/* Listens on an address of the port, that of the control connection if it is one; the offer tells where. */
int ald_manager_listen(
        AldManager *manager, const AldPort *port, const AldAddress *control, AldRdmaOffer *offer);

/* Waits for the client with the right nonce; then manager->id can have a queue pair, and the client is
 * accepted. */
int ald_manager_meet(AldManager *manager);
int ald_manager_accept(AldManager *manager);

/* Where the connection leads that was met by this port: to GIDs, or with iWARP to an address, within IPv6. */
void ald_manager_destinations(const AldManager *manager, const AldPort *port, AldGids *ret);

/* Finds the way to what was offered, by this port; then manager->id is there, and it connects. */
int ald_manager_resolve(
        AldManager *manager, const AldPort *port, const AldAddress *control, const AldRdmaOffer *offer);
int ald_manager_connect(AldManager *manager, uint64_t nonce);
