/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "state/planner/planner-device.h"

/* What is known of a node; each may be NULL. */
typedef struct AldNodeRecords {
        AldRecord *network, *fabric, *backends, *system, *compute;
} AldNodeRecords;

/* The member for a kind; NULL if there is none. */
AldRecord **ald_node_records_at(AldNodeRecords *records, AldKind kind);

/* The records about devices, in the form that the planner needs. */
AldDeviceRecords ald_node_records_devices(const AldNodeRecords *records, const char *node);

/* Further references to the same records. */
AldNodeRecords ald_node_records_ref(const AldNodeRecords *records);
void ald_node_records_clear(AldNodeRecords *records);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldNodeRecords, ald_node_records_clear)
