/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/units.h"
#include "state/findings-report.h"

/* What one node alone tells: memory, disks, devices and interfaces. */

#define PRESSURE_LIMIT 10.0 /* percent */
#define SWAP_LEFT 0.05
#define MEMORY_LEFT 0.1
#define DISK_LEFT_WARNING 0.03
#define DISK_LEFT_ERROR 0.005
#define SLOW_BITS_PER_SECOND (UINT64_C(100) * 1000 * 1000)

/* Whether less than a share of something is left; what is not known is not. */
static bool less_than(uint64_t left, uint64_t total, double share)
{
        return left != ALD_ABSENT_UINT64 && total != ALD_ABSENT_UINT64 && total > 0 &&
               (double) left < share * (double) total;
}

static void find_pressure(AldReport *report, const AldNode *node, const AldMemory *memory)
{
        g_autofree char *name = NULL;

        if (!isfinite(memory->pressure_full10) || memory->pressure_full10 < PRESSURE_LIMIT ||
                ald_report_full(report, "memory-pressure"))
                return;
        name = ald_report_name(report, &node->id);
        ald_report_add(report, ALD_SEVERITY_WARNING, "memory-pressure", &node->id, 1,
                g_strdup_printf(
                        "All tasks on %s stood still for want of memory for %.0f %% of the last 10 s.", name,
                        memory->pressure_full10),
                g_strdup_printf("Stop something on %s, or move work to a node with more free memory.", name));
}

/* Full swap alone is harmless: what is never used again may well stay there. */
static void find_full_swap(AldReport *report, const AldNode *node, const AldMemory *memory)
{
        g_autofree char *name = NULL, *swap = NULL, *swap_total = NULL, *available = NULL;

        if (!less_than(memory->swap_available_bytes, memory->swap_total_bytes, SWAP_LEFT) ||
                !less_than(memory->available_bytes, memory->total_bytes, MEMORY_LEFT) ||
                ald_report_full(report, "swap-nearly-full"))
                return;
        name = ald_report_name(report, &node->id);
        swap = ald_units_bytes(memory->swap_available_bytes);
        swap_total = ald_units_bytes(memory->swap_total_bytes);
        available = ald_units_bytes(memory->available_bytes);
        ald_report_add(report, ALD_SEVERITY_WARNING, "swap-nearly-full", &node->id, 1,
                g_strdup_printf("Only %s of %s of swap and %s of memory are left on %s.", swap, swap_total,
                        available, name),
                g_strdup_printf("Stop something on %s before the kernel does.", name));
}

static void find_full_disk(AldReport *report, const AldNode *node, const AldDiskPath *path)
{
        g_autofree char *name = NULL, *left = NULL, *total = NULL;
        bool full = less_than(path->available_bytes, path->total_bytes, DISK_LEFT_ERROR);

        if (!less_than(path->available_bytes, path->total_bytes, DISK_LEFT_WARNING) ||
                ald_report_full(report, "disk-nearly-full"))
                return;
        name = ald_report_name(report, &node->id);
        left = ald_units_bytes(path->available_bytes);
        total = ald_units_bytes(path->total_bytes);
        ald_report_add(report, full ? ALD_SEVERITY_ERROR : ALD_SEVERITY_WARNING, "disk-nearly-full",
                &node->id, 1,
                g_strdup_printf("%s on %s has only %s of %s left.", path->id, name, left, total),
                g_strdup_printf("Free space below %s on %s.", path->id, name));
}

/* An instance has the driver of its card, and what OpenCL computes with needs no other. */
static void find_driverless(AldReport *report, const AldNode *node, const AldBackend *backend)
{
        g_autofree char *name = NULL;

        if (backend->driver || backend->parent || backend->open_cl_platform || !backend->class ||
                strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0 ||
                ald_report_full(report, "device-without-driver"))
                return;
        name = ald_report_name(report, &node->id);
        ald_report_add(report, ALD_SEVERITY_WARNING, "device-without-driver", &node->id, 1,
                g_strdup_printf("No kernel driver is bound to %s (%s) on %s, so nothing can compute on it.",
                        backend->name ?: backend->vendor ?: backend->class, backend->id, name),
                g_strdup_printf("Install the kernel driver of its vendor on %s.", name));
}

static void find_slow_interface(AldReport *report, const AldNode *node, const AldInterface *interface)
{
        g_autofree char *name = NULL, *speed = NULL;

        if (!interface->type ||
                strcmp(interface->type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_ETHERNET)) != 0 ||
                interface->carrier != 1 || interface->speed_bits_per_second > SLOW_BITS_PER_SECOND ||
                ald_report_full(report, "interface-slow"))
                return;
        name = ald_report_name(report, &node->id);
        speed = ald_units_rate(interface->speed_bits_per_second);
        ald_report_add(report, ALD_SEVERITY_NOTICE, "interface-slow", &node->id, 1,
                g_strdup_printf("%s on %s negotiated only %s.", interface->id, name, speed),
                g_strdup("Check the cable and the port at its other end."));
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
