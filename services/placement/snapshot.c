/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "services/placement/rate-disputes.h"
#include "services/placement/snapshot.h"
#include "state/compute/doubts.h"
#include "state/compute/opencl-driver.h"

#define TERA 1e12

/* A node that is being added. */
typedef struct AddedNode {
        AldPlanSnapshot *snapshot;
        const AldEntity *entity; /* NULL if only its id is known */
        uint32_t node;
} AddedNode;

static const char *keep_string(AldPlanSnapshot *snapshot, const char *text)
{
        char *copy = g_strdup(text);

        if (copy)
                g_ptr_array_add(snapshot->owned, copy);
        return copy;
}

static const void *keep_struct(AldPlanSnapshot *snapshot, const AldStruct *type, const void *from)
{
        void *copy = from ? ald_struct_dup(type, from) : NULL;

        if (copy)
                g_ptr_array_add(snapshot->owned, copy);
        return copy;
}

static double to_double(uint64_t value)
{
        return value == ALD_ABSENT_UINT64 ? NAN : (double) value;
}

/* Returns a rate in bytes or operations per second. Less than one was not measured. */
static double to_rate(double value)
{
        return value >= 1 ? value : NAN;
}

static bool has_flag(const char *const *flags, const char *flag)
{
        return flags && g_strv_contains(flags, flag);
}

/* Removes figures that the state service doubts. */
static void set_doubt(AldPlanSnapshot *snapshot, const AldDoubts *doubts, AldPlanDevice *device)
{
        const AldDoubt *product = ald_doubts_find(doubts, device->id, ALD_DOUBT_FIELD_GEMMTFLOPS);
        const AldDoubt *memory = ald_doubts_find(
                doubts, device->id, ALD_DOUBT_FIELD_MEMORYBANDWIDTHBYTESPERSECOND);

        if (product)
                device->flops = NAN;
        if (memory)
                device->bytes_per_second = NAN;
        device->doubt = keep_struct(snapshot, &ald_doubt_struct, product ? product : memory);
}

static void set_figures(AldPlanSnapshot *snapshot, const AldComputeDevice *measured, AldPlanDevice *device)
{
        device->bytes_per_second = device->flops = NAN;
        device->measured = keep_struct(snapshot, &ald_compute_device_struct, measured);
        if (!measured || has_flag(measured->flags, "suspect"))
                return;
        device->bytes_per_second = to_rate(to_double(measured->memory_bandwidth_bytes_per_second));
        device->flops = to_rate(
                TERA * (isnan(measured->tflops_fp16) ? measured->gemm_tflops : measured->tflops_fp16));
}

/* Returns the rest of an amount; absent if either is unknown or the values are impossible. */
static uint64_t subtract_used(uint64_t total, uint64_t used)
{
        return total == ALD_ABSENT_UINT64 || used == ALD_ABSENT_UINT64 || used > total ? ALD_ABSENT_UINT64
                                                                                       : total - used;
}

/* Free memory, and when it was reported. */
typedef struct FreeMemory {
        uint64_t bytes, usec;
        bool is_assumed; /* the memory in use is unknown */
} FreeMemory;

static FreeMemory find_free_host_memory(const AldEntity *entity)
{
        const AldRecord *record = ald_entity_record(entity, ALD_KIND_MEMORY);
        const AldMemory *memory = ald_record_as(record, MEMORY, AldMemory);

        return memory ? (FreeMemory){ memory->available_bytes, record->updated_usec }
                      : (FreeMemory){ ALD_ABSENT_UINT64, ALD_ABSENT_UINT64 };
}

static const AldDevice *find_present_device(const AldEntity *entity, const char *id)
{
        const AldSystem *system = ald_entity_as(entity, SYSTEM, AldSystem);

        return system ? ald_rows_find(&system->devices, id) : NULL;
}

/* Returns the free memory that belongs to the device alone. The drivers of Intel's cards do not report how
 * much is in use, so all of it may be free. */
static FreeMemory find_free_own_memory(const AldEntity *entity, const AldBackend *backend)
{
        const AldRecord *record = ald_entity_record(entity, ALD_KIND_SYSTEM);
        const AldDevice *now = find_present_device(entity, backend->id);

        if (now && now->memory_used_bytes == ALD_ABSENT_UINT64 &&
                backend->memory_total_bytes != ALD_ABSENT_UINT64)
                return (FreeMemory){ backend->memory_total_bytes, record->updated_usec, true };
        return now ? (FreeMemory){ subtract_used(backend->memory_total_bytes, now->memory_used_bytes),
                record->updated_usec }
                   : (FreeMemory){ ALD_ABSENT_UINT64, ALD_ABSENT_UINT64 };
}

/* Returns how much more of the host's memory the driver of a device allows; if its use is unknown, all that
 * it may have. */
static FreeMemory find_allowed_host_memory(const AldEntity *entity, const AldBackend *backend)
{
        const AldRecord *record = ald_entity_record(entity, ALD_KIND_SYSTEM);
        const AldDevice *now = find_present_device(entity, backend->id);
        uint64_t bytes = now ? subtract_used(backend->shared_bytes, now->shared_used_bytes)
                             : ALD_ABSENT_UINT64;

        return bytes == ALD_ABSENT_UINT64 ? (FreeMemory){ backend->shared_bytes, ALD_ABSENT_UINT64 }
                                          : (FreeMemory){ bytes, record->updated_usec };
}

/*
 * Returns the free memory of a device that computes in host memory: what is available on the host, limited by
 * its driver. Memory that the firmware carved out for the device is separate, and is added if it is known to
 * be free.
 */
static FreeMemory find_free_unified_memory(const AldEntity *entity, const AldBackend *backend)
{
        FreeMemory found = find_free_host_memory(entity), own = find_free_own_memory(entity, backend);
        const FreeMemory allowed = find_allowed_host_memory(entity, backend);

        if (found.bytes == ALD_ABSENT_UINT64)
                return found;
        found.bytes = MIN(found.bytes, allowed.bytes); /* absent is the greatest value */
        found.usec = MIN(found.usec, allowed.usec);
        if (own.bytes != ALD_ABSENT_UINT64 && !own.is_assumed) {
                found.bytes += own.bytes;
                found.usec = MIN(found.usec, own.usec);
        }
        return found;
}

/*
 * Returns the total that programs on a device see, of which engines take a share. CUDA and OpenCL report
 * MemTotal for a GPU that uses the host's memory; in a container, this is more than the container's limit,
 * which is all that our total contains then. The totals of HIP and Level Zero depend on their versions and
 * the kernel's.
 */
static uint64_t find_total_bytes(const AldEntity *entity, const AldBackend *backend, bool uses_host_memory)
{
        const AldMemory *memory = ald_entity_as(entity, MEMORY, AldMemory);

        if (!uses_host_memory)
                return backend->memory_total_bytes;
        if (!memory || !backend->vendor || g_strcmp0(backend->class, "gpu") != 0 ||
                !g_str_has_prefix(backend->vendor, "NVIDIA"))
                return ALD_PLAN_ABSENT;
        return backend->shared_bytes == ALD_ABSENT_UINT64 ? memory->total_bytes
                                                          : MAX(memory->total_bytes, backend->shared_bytes);
}

/* Sets whether the device needs another driver to be measured, and where to get it. Before OpenCL was
 * queried, as while a device is asleep, and for versions that do not report it, a measurement is worth a
 * try. */
static void set_opencl(const AddedNode *added, const AldBackend *backend, AldPlanDevice *device)
{
        const AldBackends *backends = ald_entity_as(added->entity, BACKENDS, AldBackends);

        device->lacks_opencl = backends->open_cl && !backend->open_cl_platform;
        if (ald_opencl_is_missing(backends, backend))
                device->opencl_package = ald_opencl_package(backend);
}

static void add_device(const AddedNode *added, const AldBackend *backend)
{
        const AldCompute *compute = ald_entity_as(added->entity, COMPUTE, AldCompute);
        FreeMemory found;
        AldPlanDevice device = { .node = added->node,
                .id = keep_string(added->snapshot, backend->id),
                .name = keep_string(added->snapshot, backend->name),
                .vendor = keep_string(added->snapshot, backend->vendor),
                .is_processor = g_strcmp0(backend->class, "cpu") == 0,
                .uses_host_memory = backend->unified == 1,
                .free_bytes = ALD_PLAN_ABSENT,
                .free_usec = ALD_PLAN_ABSENT };

        device.uses_host_memory |= device.is_processor;
        device.total_bytes = find_total_bytes(added->entity, backend, device.uses_host_memory);
        set_figures(added->snapshot, compute ? ald_rows_find(&compute->devices, backend->id) : NULL, &device);
        set_doubt(added->snapshot, ald_entity_as(added->entity, DOUBTS, AldDoubts), &device);
        set_opencl(added, backend, &device);
        found = device.is_processor       ? find_free_host_memory(added->entity)
                : device.uses_host_memory ? find_free_unified_memory(added->entity, backend)
                                          : find_free_own_memory(added->entity, backend);
        device.free_bytes = found.bytes;
        device.free_usec = found.usec;
        device.is_free_assumed = found.is_assumed;
        g_array_append_val(added->snapshot->devices, device);
}

/* A card that is split computes only through its instances. */
static bool has_instances(const AldBackends *backends, const AldBackend *card)
{
        for (size_t i = 0; i < backends->devices.n; i++) {
                const AldBackend *other = ald_rows_at(&backends->devices, i);

                if (g_strcmp0(other->parent, card->id) == 0)
                        return true;
        }
        return false;
}

static void add_devices(const AddedNode *added)
{
        const AldBackends *backends = ald_entity_as(added->entity, BACKENDS, AldBackends);

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);

                if (!has_instances(backends, backend))
                        add_device(added, backend);
        }
}

/*
 * Returns the file system with most of the known models of the node, since it is unknown where the model of a
 * request is. NULL if its rate was never measured, or others used its disks meanwhile.
 */
static const AldStorageFileSystem *find_storage(const AldEntity *entity)
{
        const AldStorage *storage = ald_entity_as(entity, STORAGE, AldStorage);
        const AldStorageFileSystem *found = NULL;

        for (size_t i = 0; storage && i < storage->file_systems.n; i++) {
                const AldStorageFileSystem *row = ald_rows_at(&storage->file_systems, i);

                if (row->model_bytes != ALD_ABSENT_UINT64 &&
                        row->model_bytes > (found ? found->model_bytes : 0))
                        found = row;
        }
        return found && !isnan(to_rate(to_double(found->read_bytes_per_second))) &&
                               !has_flag(found->flags, "busy")
                       ? found
                       : NULL;
}

static const char *find_unusable(AldPlanSnapshot *snapshot, const char *presence)
{
        if (!presence)
                return "unknown";
        return g_str_equal(presence, "online") ? NULL : keep_string(snapshot, presence);
}

static void add_node(AldPlanSnapshot *snapshot, AldModel *model, const AldGraphNodeRow *row)
{
        const AldEntity *entity = ald_model_get(model, row->node);
        const AldIdentity *identity = ald_entity_as(entity, IDENTITY, AldIdentity);
        const AldPlanNode node = { .id = keep_string(snapshot, row->node),
                .name = keep_string(snapshot, row->name),
                .host_name = keep_string(snapshot, identity ? identity->host_name : NULL),
                .unusable = find_unusable(snapshot, row->presence),
                .storage = keep_struct(snapshot, &ald_storage_file_system_struct, find_storage(entity)) };
        const AddedNode added = { snapshot, entity, snapshot->nodes->len };

        g_array_append_val(snapshot->nodes, node);
        add_devices(&added);
}

/* Returns ALD_PLAN_NONE if the node is not in the snapshot. */
static uint32_t find_node(GHashTable *indices, const char *id)
{
        gpointer index;

        return g_hash_table_lookup_extended(indices, id, NULL, &index) ? GPOINTER_TO_UINT(index)
                                                                       : ALD_PLAN_NONE;
}

/* Parses an address of either family. Returns the number of its bytes, or 0. */
static size_t parse_address(const char *text, uint8_t bytes[16])
{
        return inet_pton(AF_INET, text, bytes) == 1 ? 4 : inet_pton(AF_INET6, text, bytes) == 1 ? 16 : 0;
}

/* Returns the address without its prefix length if the other address has the same prefix, else NULL; to be
 * freed. */
static char *match_address(const char *with_prefix, const char *other)
{
        g_auto(GStrv) parts = g_strsplit(with_prefix, "/", 2);
        uint8_t own[16], its[16];
        size_t n = parse_address(parts[0], own);
        guint64 prefix;

        if (n == 0 || n != parse_address(other, its) || !parts[1] ||
                !g_ascii_string_to_unsigned(parts[1], 10, 0, n * 8, &prefix, NULL) ||
                memcmp(own, its, prefix / 8) != 0)
                return NULL;
        if (prefix % 8 != 0 && ((own[prefix / 8] ^ its[prefix / 8]) >> (8 - prefix % 8)) != 0)
                return NULL;
        return g_strdup(parts[0]);
}

/* Returns the address of the end that was not probed, which the graph does not state: the address of its
 * interface in the same network. NULL if the interface is unknown; to be freed. */
static char *find_address(AldModel *model, const char *id, const char *port, const char *peer_address)
{
        const AldNetwork *network = ald_entity_as(ald_model_get(model, id), NETWORK, AldNetwork);
        const AldInterface *interface = network && port ? ald_rows_find(&network->interfaces, port) : NULL;

        for (size_t i = 0; peer_address && interface && interface->addresses && interface->addresses[i];
                i++) {
                char *address = match_address(interface->addresses[i], peer_address);

                if (address)
                        return address;
        }
        return NULL;
}

static bool is_usable(const AldEdgeRow *edge)
{
        return (g_strcmp0(edge->kind, "socket") == 0 || g_strcmp0(edge->kind, "rdma") == 0) &&
               g_strcmp0(edge->presence, "live") == 0 && edge->bits_per_second != ALD_ABSENT_UINT64 &&
               edge->bits_per_second > 0 && edge->rtt_p50_nsec != ALD_ABSENT_UINT64;
}

static void add_path(AldPlanSnapshot *snapshot, AldModel *model, GHashTable *indices, const AldEdgeRow *edge)
{
        const AldEdgeRow *kept = keep_struct(snapshot, &ald_edge_row_struct, edge);
        AldPlanPath path = { .source = find_node(indices, edge->source),
                .sink = find_node(indices, edge->sink),
                .is_rdma = g_strcmp0(edge->kind, "rdma") == 0,
                .rtt_nsec = to_double(edge->rtt_p50_nsec),
                .bits_per_second = to_double(edge->bits_per_second),
                .edge = kept,
                .reverse = ALD_PLAN_NONE,
                .source_address = kept->source_address,
                .sink_address = kept->sink_address };
        g_autofree char *found = NULL;

        if (path.source == ALD_PLAN_NONE || path.sink == ALD_PLAN_NONE || path.source == path.sink)
                return;
        if (!path.sink_address) {
                found = find_address(model, edge->sink, edge->sink_port, path.source_address);
                path.sink_address = keep_string(snapshot, found);
        } else if (!path.source_address) {
                found = find_address(model, edge->source, edge->source_port, path.sink_address);
                path.source_address = keep_string(snapshot, found);
        }
        g_array_append_val(snapshot->paths, path);
}

/* Returns a key for an end of a path; to be freed. */
static char *end_key(uint32_t node, const char *port, const char *address)
{
        return g_strdup_printf("%u\n%s\n%s", node, port ? port : "", address ? address : "");
}

/* Returns a key that a path and its reverse have in common if one of them is reversed; to be freed. */
static char *connection_key(const AldPlanPath *path, bool reversed)
{
        g_autofree char *source = end_key(path->source, path->edge->source_port, path->source_address);
        g_autofree char *sink = end_key(path->sink, path->edge->sink_port, path->sink_address);

        return g_strdup_printf(
                "%d\n%s\n%s", path->is_rdma, reversed ? sink : source, reversed ? source : sink);
}

static void free_indices(gpointer indices)
{
        g_array_unref(indices);
}

/* Takes ownership of the key. */
static void add_waiting(GHashTable *waiting, char *key, guint index)
{
        GArray *indices = g_hash_table_lookup(waiting, key);

        if (indices) {
                g_free(key);
        } else {
                indices = g_array_new(false, false, sizeof index);
                g_hash_table_insert(waiting, key, indices);
        }
        g_array_append_val(indices, index);
}

/* Pairs each path with its reverse. Among several equal paths, which have no addresses, each gets one
 * other. */
static void pair_paths(GArray *paths)
{
        g_autoptr(GHashTable) waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_indices);

        for (guint i = 0; i < paths->len; i++) {
                AldPlanPath *path = &g_array_index(paths, AldPlanPath, i);
                g_autofree char *reversed = connection_key(path, true);
                GArray *others = g_hash_table_lookup(waiting, reversed);

                if (!others || others->len == 0) {
                        add_waiting(waiting, connection_key(path, false), i);
                        continue;
                }
                path->reverse = g_array_index(others, guint, 0);
                g_array_remove_index(others, 0);
                g_array_index(paths, AldPlanPath, path->reverse).reverse = i;
        }
}

static GHashTable *index_nodes(const AldPlanSnapshot *snapshot)
{
        GHashTable *indices = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < snapshot->nodes->len; i++)
                g_hash_table_insert(indices, (gpointer) g_array_index(snapshot->nodes, AldPlanNode, i).id,
                        GUINT_TO_POINTER(i));
        return indices;
}

AldPlanSnapshot *ald_plan_snapshot_new(AldModel *model)
{
        const AldTopology *topology = ald_model_topology(model);
        AldPlanSnapshot *snapshot = g_new(AldPlanSnapshot, 1);
        g_autoptr(GHashTable) indices = NULL;

        *snapshot = (AldPlanSnapshot){ .revision = topology->reading,
                .nodes = g_array_new(false, false, sizeof(AldPlanNode)),
                .devices = g_array_new(false, false, sizeof(AldPlanDevice)),
                .paths = g_array_new(false, false, sizeof(AldPlanPath)),
                .owned = g_ptr_array_new_with_free_func(g_free) };
        for (guint i = 0; i < topology->nodes->len; i++)
                add_node(snapshot, model, topology->nodes->pdata[i]);
        indices = index_nodes(snapshot);
        for (guint i = 0; i < topology->edges->len; i++)
                if (is_usable(topology->edges->pdata[i]))
                        add_path(snapshot, model, indices, topology->edges->pdata[i]);
        pair_paths(snapshot->paths);
        ald_plan_disputes_settle(snapshot->paths);
        snapshot->cluster = (AldPlanCluster){ .nodes = (const AldPlanNode *) (void *) snapshot->nodes->data,
                .n_nodes = snapshot->nodes->len,
                .devices = (const AldPlanDevice *) (void *) snapshot->devices->data,
                .n_devices = snapshot->devices->len,
                .paths = (const AldPlanPath *) (void *) snapshot->paths->data,
                .n_paths = snapshot->paths->len };
        return snapshot;
}

void ald_plan_snapshot_free(AldPlanSnapshot *snapshot)
{
        if (!snapshot)
                return;
        g_array_unref(snapshot->nodes);
        g_array_unref(snapshot->devices);
        g_array_unref(snapshot->paths);
        g_ptr_array_unref(snapshot->owned);
        g_free(snapshot);
}
