/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/compute/opencl-driver.h"
#include "state/findings/findings-report.h"
#include "state/link/link-ttl.h"

/* Finds what the records of a single node show: memory, disks, devices, interfaces, its membership and its
 * configuration. */

#define PRESSURE_LIMIT 10.0 /* percent */
#define SWAP_LEFT 0.05
#define MEMORY_LEFT 0.1
#define DISK_LEFT_WARNING 0.03
#define DISK_LEFT_ERROR 0.005
#define SLOW_BITS_PER_SECOND (UINT64_C(100) * 1000 * 1000)
#define FAST_COPIES \
        0.6 /* share of what the lanes carry at their best; at half the transfer rate they carry less */
#define TIMES_TO_LIVE 3u /* by which the figures of a device may be overdue */
#define SOON_USEC (UINT64_C(30) * 24 * 3600 * G_USEC_PER_SEC)

/* Compute devices that are never free to be measured. */

/* A device without any figure is reported sooner. */
static bool waits_too_long(const AldComputeDevice *row, uint64_t now)
{
        uint64_t ttl = ald_kind_ttl(ALD_KIND_COMPUTE);
        uint64_t most = row->measured_usec == ALD_ABSENT_UINT64 ? ttl : TIMES_TO_LIVE * ttl;

        return row->waiting_since_usec != ALD_ABSENT_UINT64 && row->waiting_reason &&
               row->waiting_since_usec < now && now - row->waiting_since_usec > most;
}

static void find_never_free(
        AldReport *report, const AldNode *node, const AldBackend *backend, const AldComputeDevice *row)
{
        AldFindingRow finding = ALD_FINDING_ROW_INIT;

        if (!waits_too_long(row, report->context.real) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_DEVICE_NEVER_FREE,
                        &node->id, &node->id, 1))
                return;
        finding.device = backend->id;
        finding.device_name = backend->name;
        finding.measured_usec = row->measured_usec;
        finding.duration_usec = report->context.real - row->waiting_since_usec;
        finding.reason = row->waiting_reason;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_DEVICE_NEVER_FREE,
                &node->id, &node->id, 1, &finding);
}

static void find_in_devices(AldReport *report, const AldNode *node)
{
        const AldBackends *backends = ald_node_as(node, BACKENDS, AldBackends);
        const AldCompute *compute = ald_node_as(node, COMPUTE, AldCompute);

        for (size_t i = 0; backends && compute && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);
                const AldComputeDevice *row = ald_rows_find(&compute->devices, backend->id);

                if (row)
                        find_never_free(report, node, backend, row);
        }
}

/* The membership in the cluster, as nodes report it: certificates that expire, and what brokers refuse. */

static bool is_soon(const AldReport *report, uint64_t end)
{
        return end != ALD_ABSENT_UINT64 && report->context.clock_is_set &&
               (end < report->context.real || end - report->context.real <= SOON_USEC);
}

static bool has_ended(const AldReport *report, uint64_t end)
{
        return is_soon(report, end) && end <= report->context.real;
}

static void find_expiry(
        AldReport *report, const AldNode *node, uint64_t end, AldFindingRowId id, const char *cluster_name)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        bool ended = has_ended(report, end);
        AldFindingRowSeverity severity = ended ? ALD_FINDING_ROW_SEVERITY_ERROR
                                               : ALD_FINDING_ROW_SEVERITY_WARNING;

        if (!is_soon(report, end) || ald_report_full(report, severity, id, &node->id, &node->id, 1))
                return;
        row.cluster_name = cluster_name;
        row.remaining_usec = ended ? 0 : end - report->context.real;
        ald_report_add(report, severity, id, &node->id, &node->id, 1, &row);
}

static void find_refused(AldReport *report, const AldNode *host, const AldRefusedPublisher *row)
{
        AldFindingRow finding = ALD_FINDING_ROW_INIT;
        AldId nodes[2] = { host->id, host->id };

        if (ald_id_parse(row->id, &nodes[0]) < 0 || row->refused_messages == ALD_ABSENT_UINT64 ||
                row->kept_bytes == ALD_ABSENT_UINT64 ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                        ALD_FINDING_ROW_ID_BROKER_REFUSES_NODE, &host->id, nodes, 2))
                return;
        finding.kept_bytes = row->kept_bytes;
        finding.refused_messages = row->refused_messages;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_BROKER_REFUSES_NODE,
                &host->id, nodes, 2, &finding);
}

/* An expired certificate is reported for an offline node, too, since it may be the reason. */
static void find_in_membership(AldReport *report, const AldNode *node)
{
        const AldMembership *membership = ald_node_as(node, MEMBERSHIP, AldMembership);

        if (!membership)
                return;
        if (ald_node_counts(node) || has_ended(report, membership->certificate_expiry_usec))
                find_expiry(report, node, membership->certificate_expiry_usec,
                        ALD_FINDING_ROW_ID_CERTIFICATE_EXPIRES, NULL);
        if (!ald_node_counts(node))
                return;
        find_expiry(report, node, membership->broker_expiry_usec,
                ALD_FINDING_ROW_ID_BROKER_CERTIFICATE_EXPIRES, NULL);
        find_expiry(report, node, membership->bridge_expiry_usec,
                ALD_FINDING_ROW_ID_BRIDGE_CERTIFICATE_EXPIRES, NULL);
        /* All nodes of the cluster have the same authority, so this machine reports it for all. */
        if (node->local)
                find_expiry(report, node, membership->authority_expiry_usec,
                        ALD_FINDING_ROW_ID_AUTHORITY_CERTIFICATE_EXPIRES, membership->cluster_name);
        for (size_t i = 0; i < membership->refused_publishers.n; i++)
                find_refused(report, node, ald_rows_at(&membership->refused_publishers, i));
}

/* Settings that services refuse. */

/* The remedy names the service in a command, so any other text from a peer is not repeated. */
static bool is_name_of_service(const char *name)
{
        return name && g_str_has_prefix(name, "alidade-") &&
               strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name);
}

static void find_in_configuration(AldReport *report, const AldNode *node)
{
        const AldConfiguration *configuration = ald_node_as(node, CONFIGURATION, AldConfiguration);

        for (size_t i = 0; configuration && i < configuration->problems.n; i++) {
                const AldRefusedSetting *setting = ald_rows_at(&configuration->problems, i);
                AldFindingRow row = ALD_FINDING_ROW_INIT;

                if (ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                            ALD_FINDING_ROW_ID_CONFIGURATION_REFUSED, &node->id, &node->id, 1))
                        continue;
                row.service = is_name_of_service(setting->service) ? setting->service : NULL;
                row.path = setting->file;
                row.line = setting->line;
                row.group = setting->group;
                row.key = setting->key;
                row.reason = setting->reason;
                ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                        ALD_FINDING_ROW_ID_CONFIGURATION_REFUSED, &node->id, &node->id, 1, &row);
        }
}

/* Memory, disks and interfaces. */

/* Returns whether less than a share of something is left; false if that is unknown. */
static bool share_left_is_below(uint64_t left, uint64_t total, double share)
{
        return left != ALD_ABSENT_UINT64 && total != ALD_ABSENT_UINT64 && total > 0 &&
               (double) left < share * (double) total;
}

static bool is_under_pressure(const AldMemory *memory)
{
        return isfinite(memory->pressure_full10) && memory->pressure_full10 >= PRESSURE_LIMIT;
}

static void find_pressure(AldReport *report, const AldNode *node, const AldMemory *memory)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!is_under_pressure(memory) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_MEMORY_PRESSURE,
                        &node->id, &node->id, 1))
                return;
        row.percent = memory->pressure_full10;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_MEMORY_PRESSURE,
                &node->id, &node->id, 1, &row);
}

/* Full swap alone is harmless: pages that are never used again may stay there. */
static bool is_swap_nearly_full(const AldMemory *memory)
{
        return share_left_is_below(memory->swap_available_bytes, memory->swap_total_bytes, SWAP_LEFT) &&
               share_left_is_below(memory->available_bytes, memory->total_bytes, MEMORY_LEFT);
}

static void find_full_swap(AldReport *report, const AldNode *node, const AldMemory *memory)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!is_swap_nearly_full(memory) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_SWAP_NEARLY_FULL,
                        &node->id, &node->id, 1))
                return;
        row.available_bytes = memory->swap_available_bytes;
        row.total_bytes = memory->swap_total_bytes;
        row.memory_available_bytes = memory->available_bytes;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_SWAP_NEARLY_FULL,
                &node->id, &node->id, 1, &row);
}

bool ald_findings_differ_for_memory(const AldMemory *a, const AldMemory *b)
{
        return is_under_pressure(a) != is_under_pressure(b) ||
               is_swap_nearly_full(a) != is_swap_nearly_full(b);
}

static void find_full_disk(AldReport *report, const AldNode *node, const AldDiskPath *path)
{
        AldFindingRowSeverity severity = share_left_is_below(
                                                 path->available_bytes, path->total_bytes, DISK_LEFT_ERROR)
                                                 ? ALD_FINDING_ROW_SEVERITY_ERROR
                                                 : ALD_FINDING_ROW_SEVERITY_WARNING;
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!share_left_is_below(path->available_bytes, path->total_bytes, DISK_LEFT_WARNING) ||
                ald_report_full(
                        report, severity, ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, &node->id, &node->id, 1))
                return;
        row.path = path->id;
        row.available_bytes = path->available_bytes;
        row.total_bytes = path->total_bytes;
        ald_report_add(report, severity, ALD_FINDING_ROW_ID_DISK_NEARLY_FULL, &node->id, &node->id, 1, &row);
}

/* An instance uses the driver of its card, and a device that OpenCL can use needs no other driver. */
static void find_driverless(AldReport *report, const AldNode *node, const AldBackend *backend)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (backend->driver || backend->parent || backend->open_cl_platform || !backend->class ||
                strcmp(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) == 0 ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                        ALD_FINDING_ROW_ID_DEVICE_WITHOUT_DRIVER, &node->id, &node->id, 1))
                return;
        row.device = backend->id;
        row.device_name = backend->name ?: backend->vendor ?: backend->class;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_DEVICE_WITHOUT_DRIVER,
                &node->id, &node->id, 1, &row);
}

/* Finds devices that cannot be measured, since OpenCL does not show them and a driver that would can be
 * installed. */
static void find_missing_opencl(AldReport *report, const AldNode *node, const AldBackends *backends)
{
        g_autoptr(GPtrArray) packages = ald_opencl_missing_packages(backends);
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (packages->len == 0 || ald_report_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE,
                                          ALD_FINDING_ROW_ID_OPENCL_MISSING, &node->id, &node->id, 1))
                return;
        g_ptr_array_add(packages, NULL);
        row.open_cl = backends->open_cl;
        row.packages = (const char *const *) packages->pdata;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_OPENCL_MISSING, &node->id,
                &node->id, 1, &row);
}

/* Reports cards that use fewer lanes, or slower ones, than they and their slots can, or whose slots have
 * fewer lanes. */

static void add_lanes(AldReport *report, const AldNode *node, const AldBackend *device,
        const AldDeviceJoin *join, AldFindingRowSeverity severity, AldFindingRowId id)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (ald_report_full(report, severity, id, &node->id, &node->id, 1))
                return;
        row.device = device->id;
        row.device_name = device->name;
        row.lanes = id == ALD_FINDING_ROW_ID_DEVICE_LANES_MISSING ? join->lanes : ALD_ABSENT_UINT64;
        row.lanes_max = join->lanes_max;
        row.slot_lanes = join->slot_lanes;
        ald_report_add(report, severity, id, &node->id, &node->id, 1, &row);
}

/* If no slot is visible, as in a virtual machine, the slot itself may have few lanes. */
static void find_missing_lanes(
        AldReport *report, const AldNode *node, const AldBackend *device, const AldDeviceJoin *join)
{
        if (join->lanes_max == ALD_ABSENT_UINT64 || join->slot_lanes == ALD_ABSENT_UINT64)
                return;
        if (join->lanes != ALD_ABSENT_UINT64 && join->lanes < MIN(join->lanes_max, join->slot_lanes))
                add_lanes(report, node, device, join, ALD_FINDING_ROW_SEVERITY_WARNING,
                        ALD_FINDING_ROW_ID_DEVICE_LANES_MISSING);
        else if (join->slot_lanes < join->lanes_max)
                add_lanes(report, node, device, join, ALD_FINDING_ROW_SEVERITY_NOTICE,
                        ALD_FINDING_ROW_ID_DEVICE_SLOT_NARROW);
}

/* Returns whether copies between the host and the device were measured that its lanes would not carry if they
 * were slow. */
static bool are_copies_fast(const AldNode *node, const AldDeviceJoin *join)
{
        const AldCompute *compute = ald_node_as(node, COMPUTE, AldCompute);
        const AldComputeDevice *row = compute ? ald_rows_find(&compute->devices, join->device) : NULL;

        return row && row->host_to_device_bytes_per_second != ALD_ABSENT_UINT64 &&
               join->bits_per_second != ALD_ABSENT_UINT64 &&
               (double) row->host_to_device_bytes_per_second * 8 >
                       FAST_COPIES * (double) join->bits_per_second;
}

static void find_slow_lanes(
        AldReport *report, const AldNode *node, const AldBackend *device, const AldDeviceJoin *join)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (join->transfers_per_second == ALD_ABSENT_UINT64 ||
                join->transfers_per_second_max == ALD_ABSENT_UINT64 ||
                join->transfers_per_second >= join->transfers_per_second_max || are_copies_fast(node, join) ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_DEVICE_LINK_SLOW,
                        &node->id, &node->id, 1))
                return;
        row.device = device->id;
        row.device_name = device->name;
        row.transfers_per_second = join->transfers_per_second;
        row.transfers_per_second_max = join->transfers_per_second_max;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_DEVICE_LINK_SLOW,
                &node->id, &node->id, 1, &row);
}

static void find_in_joins(AldReport *report, const AldNode *node, const AldBackends *backends)
{
        for (size_t i = 0; i < backends->joins.n; i++) {
                const AldDeviceJoin *join = ald_rows_at(&backends->joins, i);
                const AldBackend *device = join->device ? ald_rows_find(&backends->devices, join->device)
                                                        : NULL;

                if (!device)
                        continue;
                find_missing_lanes(report, node, device, join);
                find_slow_lanes(report, node, device, join);
        }
}

static void find_slow_interface(AldReport *report, const AldNode *node, const AldInterface *interface)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!interface->type ||
                strcmp(interface->type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_ETHERNET)) != 0 ||
                interface->carrier != 1 || interface->speed_bits_per_second > SLOW_BITS_PER_SECOND ||
                ald_report_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_INTERFACE_SLOW,
                        &node->id, &node->id, 1))
                return;
        row.interface = interface->id;
        row.negotiated_bits_per_second = interface->speed_bits_per_second;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_INTERFACE_SLOW, &node->id,
                &node->id, 1, &row);
}

static gboolean find_in_node(AldNode *node, void *userdata)
{
        AldReport *report = userdata;
        const AldMemory *memory = ald_node_as(node, MEMORY, AldMemory);
        const AldDisk *disk = ald_node_as(node, DISK, AldDisk);
        const AldBackends *backends = ald_node_as(node, BACKENDS, AldBackends);
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        find_in_membership(report, node);
        if (!ald_node_counts(node))
                return FALSE;
        if (memory) {
                find_pressure(report, node, memory);
                find_full_swap(report, node, memory);
        }
        find_in_configuration(report, node);
        for (size_t i = 0; disk && i < disk->paths.n; i++)
                find_full_disk(report, node, ald_rows_at(&disk->paths, i));
        for (size_t i = 0; backends && i < backends->devices.n; i++)
                find_driverless(report, node, ald_rows_at(&backends->devices, i));
        if (backends) {
                find_missing_opencl(report, node, backends);
                find_in_joins(report, node, backends);
        }
        find_in_devices(report, node);
        for (size_t i = 0; network && i < network->interfaces.n; i++)
                find_slow_interface(report, node, ald_rows_at(&network->interfaces, i));
        return FALSE;
}

void ald_find_in_nodes(AldReport *report)
{
        ald_store_foreach_node(report->store, find_in_node, report);
}
