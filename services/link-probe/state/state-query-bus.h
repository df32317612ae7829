/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/link-probe/state/node-records.h"

/*
 * Makes all calls of this service to org.alidade.State1. Each call has its own time limit, and the number of
 * pending calls is limited (-EUSERS); some places are reserved for the schedule. Unless a function returns an
 * error, the callback is called once: with an error if there is no reply, with -ALD_E_NO_SUCH_NODE if there
 * is no such node. Its arguments are valid during the callback.
 */
typedef struct AldStateQuery AldStateQuery;

/* `wanted` selects the kinds of which the records of nodes are read. */
AldStateQuery *ald_state_query_new(sd_bus *bus, const bool wanted[static ALD_N_KINDS]);
/* Drops pending calls without calling back. */
void ald_state_query_free(AldStateQuery *query);

/* Requests the records of a node. */
typedef void (*AldNodeAnswer)(int error, const AldNodeRecords *records, void *userdata);
int ald_state_query_node(AldStateQuery *query, const char *node, AldNodeAnswer answered, void *userdata);

/* Requests the records of this node, for the schedule. A later request with the same userdata replaces an
 * earlier one. */
int ald_state_query_own(AldStateQuery *query, const char *own_id, AldNodeAnswer answered, void *userdata);

/* Receives a list of rows, which is empty on error. */
typedef void (*AldRowsAnswer)(int error, const AldRows *rows, void *userdata);

/* Requests the segments that contain ports of a node: rows of AldSegmentRow, by GetFabric(). */
int ald_state_query_segments(AldStateQuery *query, const char *node, AldRowsAnswer answered, void *userdata);

/* The options of GetDueProbes(). Lists end in NULL, and each member may be NULL. */
typedef struct AldDueQuestion {
        unsigned max;
        const char *const *kinds;
        uint64_t bytes_per_hour; /* ALD_ABSENT_UINT64: as configured in the state service */
        GHashTable *traffic;     /* interface or RDMA port → uint64_t, bits/s */
        const char *const *avoid, *const *avoid_paths; /* node ids; keys of paths */
        const char *const *avoid_devices;
} AldDueQuestion;

/* Requests the probes that are due: rows of AldDueProbeRow. A later request with the same userdata replaces
 * an earlier one. */
int ald_state_query_due(
        AldStateQuery *query, const AldDueQuestion *question, AldRowsAnswer answered, void *userdata);

/* Requests the Node1.Network records of all nodes. The callback is called with each record, page by page,
 * then once with NULL as node and with the error. Only one such request may be pending (-EBUSY). */
typedef void (*AldNetworksAnswer)(int error, const char *node, const AldNetwork *network, void *userdata);
int ald_state_query_networks(AldStateQuery *query, AldNetworksAnswer answered, void *userdata);
