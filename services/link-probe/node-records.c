/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/node-records.h"
#include "record/id.h"

AldRecord **ald_node_records_at(AldNodeRecords *records, AldKind kind)
{
        switch (kind) {
        case ALD_KIND_NETWORK:
                return &records->network;
        case ALD_KIND_FABRIC:
                return &records->fabric;
        case ALD_KIND_BACKENDS:
                return &records->backends;
        case ALD_KIND_SYSTEM:
                return &records->system;
        case ALD_KIND_COMPUTE:
                return &records->compute;
        default:
                return NULL;
        }
}

AldNodeRecords ald_node_records_ref(const AldNodeRecords *records)
{
        AldNodeRecords held = *records;

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                AldRecord **record = ald_node_records_at(&held, kind);

                if (record && *record)
                        ald_record_ref(*record);
        }
        return held;
}

void ald_node_records_clear(AldNodeRecords *records)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                AldRecord **record = ald_node_records_at(records, kind);

                if (record)
                        g_clear_pointer(record, ald_record_unref);
        }
}

AldDeviceRecords ald_node_records_devices(const AldNodeRecords *records, const char *node)
{
        AldDeviceRecords devices = {
                .backends = ald_record_as(records->backends, BACKENDS, AldBackends),
                .compute = ald_record_as(records->compute, COMPUTE, AldCompute),
                .system = ald_record_as(records->system, SYSTEM, AldSystem),
                .system_usec = records->system ? records->system->updated_usec : 0,
        };

        (void) ald_id_parse(node, &devices.node);
        return devices;
}
