/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/neighbours.h"
#include "state/planner-device.h"

/* What the state service is asked of nodes. */
typedef struct AldNodeQuery AldNodeQuery;

AldNodeQuery *ald_node_query_new(AldService *service);
/* Whoever asked is not told any more. */
void ald_node_query_free(AldNodeQuery *query);

/* What is known of a node; each maybe NULL. */
typedef struct AldNodeRecords {
        AldRecord *network, *fabric, *backends, *system, *compute;
} AldNodeRecords;

/* The same of the devices of this node, as the planner takes them. */
AldDeviceRecords ald_node_records_devices(const AldNodeRecords *records, const char *node);

/* Holds them, too. */
AldNodeRecords ald_node_records_ref(const AldNodeRecords *records);
void ald_node_records_clear(AldNodeRecords *records);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldNodeRecords, ald_node_records_clear)

/* -ENOENT where no such node is, another error where there was no answer. Any number at a time. */
typedef void (*AldNodeAnswer)(int error, const AldNodeRecords *records, void *userdata);
int ald_node_query_ask(AldNodeQuery *query, const char *node, AldNodeAnswer answered, void *userdata);

/* Of the ports of two nodes, which are neighbours; of none where there was no answer. */
typedef void (*AldNeighboursAnswer)(const AldNeighbours *neighbours, void *userdata);
int ald_node_query_ask_neighbours(AldNodeQuery *query, const char *node, const char *other,
        AldNeighboursAnswer answered, void *userdata);
