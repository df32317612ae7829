/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* The records of a node by kind; each may be NULL. */
typedef struct AldNodeRecords {
        AldRecord *of[ALD_N_KINDS];
} AldNodeRecords;

/* Returns the fields of one record, or NULL: ald_node_records_as(records, NETWORK, AldNetwork). */
#define ald_node_records_as(records, KIND, Type) ald_record_as((records)->of[ALD_KIND_##KIND], KIND, Type)

/* Takes another reference to each record. */
AldNodeRecords ald_node_records_ref(const AldNodeRecords *records);
void ald_node_records_clear(AldNodeRecords *records);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldNodeRecords, ald_node_records_clear)
