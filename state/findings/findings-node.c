/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"

/* What the records of a single node show: memory, disks, devices and interfaces. */

#define PRESSURE_LIMIT 10.0 /* percent */
#define SWAP_LEFT 0.05
#define MEMORY_LEFT 0.1
#define DISK_LEFT_WARNING 0.03
#define DISK_LEFT_ERROR 0.005
#define SLOW_BITS_PER_SECOND (UINT64_C(100) * 1000 * 1000)

/* Whether less than a share of something is left; false if that is unknown. */
static bool less_than(uint64_t left, uint64_t total, double share)
{
        return left != ALD_ABSENT_UINT64 && total != ALD_ABSENT_UINT64 && total > 0 &&
               (double) left < share * (double) total;
}

static void find_pressure(AldReport *report, const AldNode *node, const AldMemory *memory)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!isfinite(memory->pressure_full10) || memory->pressure_full10 < PRESSURE_LIMIT ||
                ald_report_full(report, ALD_FINDING_ROW_ID_MEMORY_PRESSURE))
                return;
        row.percent = memory->pressure_full10;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_MEMORY_PRESSURE,
                &node->id, 1, &row);
}

/* Full swap alone is harmless: pages that are never used again may stay there. */
static void find_full_swap(AldReport *report, const AldNode *node, const AldMemory *memory)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!less_than(memory->swap_available_bytes, memory->swap_total_bytes, SWAP_LEFT) ||
                !less_than(memory->available_bytes, memory->total_bytes, MEMORY_LEFT) ||
                ald_report_full(report, ALD_FINDING_ROW_ID_SWAP_NEARLY_FULL))
                return;
        row.available_bytes = memory->swap_available_bytes;
        row.total_bytes = memory->swap_total_bytes;
        row.memory_available_bytes = memory->available_bytes;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_SWAP_NEARLY_FULL,
                &node->id, 1, &row);
}

static void find_full_disk(AldReport *report, const AldNode *node, const AldDiskPath *path)
{
        bool full = less_than(path->available_bytes, path->total_bytes, DISK_LEFT_ERROR);
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!less_than(path->available_bytes, path->total_bytes, DISK_LEFT_WARNING) ||
                ald_report_full(report, ALD_FINDING_ROW_ID_DISK_NEARLY_FULL))
                return;
        row.path = path->id;
        row.available_bytes = path->available_bytes;
        row.total_bytes = path->total_bytes;
        ald_report_add(report, full ? ALD_FINDING_ROW_SEVERITY_ERROR : ALD_FINDING_ROW_SEVERITY_WARNING,
                ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, &node->id, 1, &row);
}

/* An instance uses the driver of its card, and a device that OpenCL can use needs no other driver. */
static void find_driverless(AldReport *report, const AldNode *node, const AldBackend *backend)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (backend->driver || backend->parent || backend->open_cl_platform || !backend->class ||
                strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0 ||
                ald_report_full(report, ALD_FINDING_ROW_ID_DEVICE_WITHOUT_DRIVER))
                return;
        row.device = backend->id;
        row.device_name = backend->name ?: backend->vendor ?: backend->class;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_DEVICE_WITHOUT_DRIVER,
                &node->id, 1, &row);
}

static void find_slow_interface(AldReport *report, const AldNode *node, const AldInterface *interface)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!interface->type ||
                strcmp(interface->type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_ETHERNET)) != 0 ||
                interface->carrier != 1 || interface->speed_bits_per_second > SLOW_BITS_PER_SECOND ||
                ald_report_full(report, ALD_FINDING_ROW_ID_INTERFACE_SLOW))
                return;
        row.interface = interface->id;
        row.negotiated_bits_per_second = interface->speed_bits_per_second;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_INTERFACE_SLOW, &node->id,
                1, &row);
}

static gboolean find_in_node(AldNode *node, void *userdata)
{
        AldReport *report = userdata;
        const AldMemory *memory = ald_record_as(ald_node_record(node, ALD_KIND_MEMORY), MEMORY, AldMemory);
        const AldDisk *disk = ald_record_as(ald_node_record(node, ALD_KIND_DISK), DISK, AldDisk);
        const AldBackends *backends = ald_record_as(
                ald_node_record(node, ALD_KIND_BACKENDS), BACKENDS, AldBackends);
        const AldNetwork *network = ald_record_as(
                ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);

        if (!ald_node_counts(node))
                return FALSE;
        if (memory) {
                find_pressure(report, node, memory);
                find_full_swap(report, node, memory);
        }
        for (size_t i = 0; disk && i < disk->paths.n; i++)
                find_full_disk(report, node, ald_rows_at(&disk->paths, i));
        for (size_t i = 0; backends && i < backends->devices.n; i++)
                find_driverless(report, node, ald_rows_at(&backends->devices, i));
        ald_find_in_devices(report, node);
        for (size_t i = 0; network && i < network->interfaces.n; i++)
                find_slow_interface(report, node, ald_rows_at(&network->interfaces, i));
        return FALSE;
}

void ald_find_in_nodes(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_node, report);
}
