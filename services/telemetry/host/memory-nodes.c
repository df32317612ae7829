/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "record/record.h"
#include "services/common/cpuinfo.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/memory-nodes.h"

#define DRIVER_DIR "proc/driver/nvidia/gpus"

typedef struct NodeMemory {
        uint64_t total_bytes;
        uint64_t available_bytes; /* an upper bound: free, or filled with what can be dropped */
} NodeMemory;

/* Reads lines such as "Node 1 MemTotal:       99090432 kB". Returns false if the total is missing. */
static bool read_node(int root, unsigned node, NodeMemory *ret)
{
        static const char *const available[] = { "MemFree", "Active(file)", "Inactive(file)", "SReclaimable",
                NULL };
        g_autofree char *path = g_strdup_printf(ALD_MEMORY_NODES_DIR "/node%u/meminfo", node), *text = NULL;
        g_auto(GStrv) lines = NULL;
        NodeMemory memory = { .total_bytes = ALD_ABSENT_UINT64 };

        if (ald_sysroot_read(root, path, &text) < 0)
                return false;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                char key[32];
                uint64_t kib;

                if (sscanf(*line, "Node %*u %31[^:]: %" SCNu64 " kB", key, &kib) != 2 ||
                        kib > (uint64_t) ALD_INTEGER_MAX / 1024)
                        continue;
                if (g_str_equal(key, "MemTotal"))
                        memory.total_bytes = kib * 1024;
                else if (g_strv_contains(available, key))
                        memory.available_bytes += kib * 1024;
        }
        if (memory.total_bytes == ALD_ABSENT_UINT64)
                return false;
        memory.available_bytes = MIN(memory.available_bytes, memory.total_bytes);
        *ret = memory;
        return true;
}

uint64_t ald_memory_node_total(int root, unsigned node)
{
        NodeMemory memory;

        return read_node(root, node, &memory) ? memory.total_bytes : ALD_ABSENT_UINT64;
}

/* Adds the nodes that the driver names. Returns false if it names none for any GPU. A GPU whose memory the
 * kernel does not manage has the node -1, which counts as a name. */
static bool add_named_nodes(int root, GArray *nodes)
{
        g_auto(GStrv) gpus = NULL;
        bool named = false;

        if (ald_sysroot_list(root, DRIVER_DIR, &gpus) < 0)
                return false;
        for (char **gpu = gpus; *gpu; gpu++) {
                g_autofree char *path = g_strdup_printf(DRIVER_DIR "/%s/numa_status", *gpu), *text = NULL;
                const char *line;
                int node;

                if (ald_sysroot_read(root, path, &text) < 0)
                        continue;
                line = strstr(text, "Node:");
                if (!line || sscanf(line, "Node: %d", &node) != 1)
                        continue;
                named = true;
                if (node >= 0) {
                        guint number = (guint) node;

                        g_array_append_val(nodes, number);
                }
        }
        return named;
}

static bool has_processors(int root, unsigned node)
{
        g_autofree char *path = g_strdup_printf(ALD_MEMORY_NODES_DIR "/node%u/cpulist", node), *list = NULL;

        return ald_sysroot_read_string(root, path, &list) != -ENODATA;
}

static bool contains_node(const GArray *nodes, guint node)
{
        for (guint i = 0; i < nodes->len; i++)
                if (g_array_index(nodes, guint, i) == node)
                        return true;
        return false;
}

/* Returns whether a node may be the memory of a device. The driver keeps a little of it for itself, which
 * NVML may or may not count. */
static bool matches_size(uint64_t node, uint64_t device)
{
        return node >= device / 8 * 7 && node <= device / 32 * 33;
}

/* Adds the unclaimed node without processors whose size is closest to the device's. */
static void add_node_of_size(int root, char **names, uint64_t device_bytes, GArray *nodes)
{
        uint64_t least = UINT64_MAX;
        guint found = 0;

        for (char **name = names; *name; name++) {
                NodeMemory memory;
                uint64_t distance;
                unsigned node;
                int end = 0;

                if (sscanf(*name, "node%u%n", &node, &end) != 1 || (*name)[end] != '\0' ||
                        contains_node(nodes, node) || has_processors(root, node) ||
                        !read_node(root, node, &memory) || !matches_size(memory.total_bytes, device_bytes))
                        continue;
                distance = MAX(memory.total_bytes, device_bytes) - MIN(memory.total_bytes, device_bytes);
                if (distance >= least)
                        continue;
                least = distance;
                found = node;
        }
        if (least != UINT64_MAX)
                g_array_append_val(nodes, found);
}

static bool has_own_memory(const AldBackend *backend)
{
        return !backend->parent && g_strcmp0(backend->driver, "nvidia") == 0 && backend->unified != 1 &&
               backend->memory_total_bytes != ALD_ABSENT_UINT64;
}

GArray *ald_memory_nodes_of_devices(int root, const AldRows *backends)
{
        GArray *nodes = g_array_new(FALSE, FALSE, sizeof(guint));
        g_auto(AldCpuinfo) cpuinfo = {};
        g_auto(GStrv) names = NULL;
        bool any = false;

        for (size_t i = 0; i < backends->n; i++)
                any |= has_own_memory(ald_rows_at(backends, i));
        if (!any || add_named_nodes(root, nodes))
                return nodes;
        /* No x86 processor has a coherent link to a GPU, but some have HBM or CXL memory of any size. */
        ald_cpuinfo_read(root, &cpuinfo);
        if (cpuinfo.has_flags || ald_sysroot_list(root, ALD_MEMORY_NODES_DIR, &names) < 0)
                return nodes;
        for (size_t i = 0; i < backends->n; i++) {
                const AldBackend *backend = ald_rows_at(backends, i);

                if (has_own_memory(backend))
                        add_node_of_size(root, names, backend->memory_total_bytes, nodes);
        }
        return nodes;
}

void ald_memory_nodes_subtract(int root, const GArray *nodes, AldMemory *memory)
{
        for (guint i = 0; i < nodes->len; i++) {
                NodeMemory node;

                if (!read_node(root, g_array_index(nodes, guint, i), &node))
                        continue;
                if (memory->total_bytes != ALD_ABSENT_UINT64 && memory->total_bytes > node.total_bytes)
                        memory->total_bytes -= node.total_bytes;
                if (memory->available_bytes != ALD_ABSENT_UINT64)
                        memory->available_bytes -= MIN(memory->available_bytes, node.available_bytes);
        }
}
