/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/network/network-links.h"

/* The data of NetworkManager about one interface. */
typedef struct AldManagedDevice {
        const char *interface;
        AldInterfaceType type;       /* ALD_INTERFACE_TYPE_N if unknown */
        AldInterfaceMetered metered; /* ALD_INTERFACE_METERED_N if unknown */
        const char *connection;      /* or NULL */
        uint64_t speed;              /* bits per second, or absent */
} AldManagedDevice;

/* The data of NetworkManager; empty without it. Its neighbours have no Id. */
typedef struct AldManaged {
        const AldManagedDevice *devices;
        size_t n_devices;
        const AldNeighbour *neighbours;
        size_t n_neighbours;
} AldManaged;

/* The fields of a network record. They borrow from the arguments, and own the rest. */
typedef struct AldNetworkRows AldNetworkRows;

AldNetworkRows *ald_network_merge(const AldLinks *links, const AldManaged *managed);
void ald_network_rows_free(AldNetworkRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkRows, ald_network_rows_free)

const AldNetwork *ald_network_rows_fields(const AldNetworkRows *rows);

/* The numbers of things that a record leaves out. */
typedef struct AldNetworkLeftOut {
        size_t links;      /* interfaces beyond ALD_LINKS_MAX */
        size_t addresses;  /* beyond ALD_LINK_ADDRESSES_MAX of an interface */
        size_t names;      /* interfaces whose names are not UTF-8 */
        size_t interfaces; /* beyond the size of a record */
        size_t neighbours; /* beyond the size of a record */
} AldNetworkLeftOut;

AldNetworkLeftOut ald_network_rows_left_out(const AldNetworkRows *rows);

/* Logs what is left out if that differs from `logged`, which was logged last, and updates `logged`. */
void ald_network_left_out_report(AldNetworkLeftOut *logged, const AldNetworkLeftOut *now);
