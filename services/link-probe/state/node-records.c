/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/state/node-records.h"

AldNodeRecords ald_node_records_ref(const AldNodeRecords *records)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (records->of[kind])
                        ald_record_ref(records->of[kind]);
        return *records;
}

void ald_node_records_clear(AldNodeRecords *records)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                g_clear_pointer(&records->of[kind], ald_record_unref);
}
