/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* The records of a node, by their kinds; each may be NULL. */
typedef struct AldNodeRecords {
        AldRecord *of[ALD_N_KINDS];
} AldNodeRecords;

/* The fields of one: ald_node_records_as(records, NETWORK, AldNetwork), or NULL. */
#define ald_node_records_as(records, KIND, Type) ald_record_as((records)->of[ALD_KIND_##KIND], KIND, Type)

/* Further references to the same records. */
AldNodeRecords ald_node_records_ref(const AldNodeRecords *records);
void ald_node_records_clear(AldNodeRecords *records);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldNodeRecords, ald_node_records_clear)
