/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/node-records.h"
#include "record/id.h"

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

AldDeviceRecords ald_node_records_devices(const AldNodeRecords *records, const char *node)
{
        AldDeviceRecords devices = {
                .backends = ald_node_records_as(records, BACKENDS, AldBackends),
                .compute = ald_node_records_as(records, COMPUTE, AldCompute),
                .system = ald_node_records_as(records, SYSTEM, AldSystem),
                .system_usec = records->of[ALD_KIND_SYSTEM] ? records->of[ALD_KIND_SYSTEM]->updated_usec : 0,
        };

        (void) ald_id_parse(node, &devices.node);
        return devices;
}
