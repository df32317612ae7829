/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-joins.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-nvlink.h"

#define HOST "host"

/* With more devices there would be too many pairs. */
#define DEVICES_MAX 16u

typedef struct Joins {
        const GPtrArray *gpus;
        bool one_numa_node; /* all processors belong to one NUMA node */
        GStringChunk *texts;
        GArray *rows; /* of AldDeviceJoin */
} Joins;

/* Returns false also if the kernel does not show which NUMA nodes have processors. */
static bool has_one_numa_node(int root)
{
        g_autofree char *nodes = NULL;

        return ald_sysroot_read_string(root, "sys/devices/system/node/has_cpu", &nodes) >= 0 &&
               strspn(nodes, "0123456789") == strlen(nodes);
}

static AldDeviceJoin row_of(const AldGpu *gpu, const char *peer, AldDeviceJoinKind kind)
{
        AldDeviceJoin row = ALD_DEVICE_JOIN_INIT;

        row.device = gpu->id;
        row.peer = peer;
        row.kind = ald_device_join_kind_to_string(kind);
        return row;
}

/* Returns a row between two devices, of which the one with the lesser Id comes first. */
static AldDeviceJoin row_between(const AldGpu *a, const AldGpu *b, AldDeviceJoinKind kind)
{
        return strcmp(a->id, b->id) < 0 ? row_of(a, b->id, kind) : row_of(b, a->id, kind);
}

static void add_row(Joins *joins, AldDeviceJoin row)
{
        g_autofree char *id = g_strdup_printf("%s,%s,%s", row.device, row.peer, row.kind);

        if (joins->rows->len >= ALD_GPU_JOINS_MAX)
                return;
        row.id = g_string_chunk_insert(joins->texts, id);
        g_array_append_val(joins->rows, row);
}

/* Returns whether a device computes over its lanes, which a device in host memory does not. For NVIDIA's
 * devices only NVML reports this, and for AMD's only their driver. */
static bool uses_lanes(const AldGpu *gpu)
{
        return ald_gpu_unified(gpu) != 1 && (gpu->pci_vendor != ALD_PCI_AMD || ald_gpu_unified(gpu) == 0) &&
               (!gpu->has_nvml || gpu->nvml.unified != ALD_ABSENT_BOOLEAN);
}

static void add_pcie_to_host(Joins *joins, const AldGpu *gpu)
{
        AldDeviceJoin row = row_of(gpu, HOST, ALD_DEVICE_JOIN_KIND_PCIE);

        if (gpu->pcie && uses_lanes(gpu) && ald_gpu_pcie_to_host(gpu->pcie, &row))
                add_row(joins, row);
}

/* Returns what joins two devices at different root complexes, or NULL if unknown. */
static const char *through_numa(const Joins *joins, const AldGpu *a, const AldGpu *b)
{
        AldDeviceJoinThrough through = ALD_DEVICE_JOIN_THROUGH_NUMA_NODE;

        if (!joins->one_numa_node) {
                if (a->numa_node == ALD_ABSENT_UINT64 || b->numa_node == ALD_ABSENT_UINT64)
                        return NULL;
                if (a->numa_node != b->numa_node)
                        through = ALD_DEVICE_JOIN_THROUGH_MACHINE;
        }
        return ald_device_join_through_to_string(through);
}

static const char *through_pcie(const Joins *joins, const AldGpu *a, const AldGpu *b)
{
        switch (ald_gpu_pcie_common(a->pcie, b->pcie)) {
        case ALD_GPU_PCIE_SWITCH:
                return ald_device_join_through_to_string(ALD_DEVICE_JOIN_THROUGH_SWITCH);
        case ALD_GPU_PCIE_ROOT:
                return ald_device_join_through_to_string(ALD_DEVICE_JOIN_THROUGH_ROOT_COMPLEX);
        case ALD_GPU_PCIE_APART:
                return through_numa(joins, a, b);
        default:
                return NULL;
        }
}

static void add_pcie_between(Joins *joins, const AldGpu *a, const AldGpu *b)
{
        AldDeviceJoin row = row_between(a, b, ALD_DEVICE_JOIN_KIND_PCIE);

        if (!a->pcie || !b->pcie)
                return;
        row.through = through_pcie(joins, a, b);
        add_row(joins, row);
}

/* Returns the lesser of both; absent if one of them is unknown. */
static uint64_t lesser(uint64_t a, uint64_t b)
{
        return a == ALD_ABSENT_UINT64 || b == ALD_ABSENT_UINT64 ? ALD_ABSENT_UINT64 : MIN(a, b);
}

static void add_nvlinks(Joins *joins, const AldGpu *a, const AldGpu *b, const AldGpuNvlinks *of_a,
        const AldGpuNvlinks *of_b, const char *through)
{
        AldDeviceJoin row = row_between(a, b, ALD_DEVICE_JOIN_KIND_NVLINK);

        row.through = through;
        row.links = MIN(of_a->n, of_b->n);
        row.bits_per_second = lesser(of_a->bits_per_second, of_b->bits_per_second);
        add_row(joins, row);
}

static void add_nvlinks_between(Joins *joins, const AldGpu *a, const AldGpu *b)
{
        const AldGpuNvlinks *of_a = ald_gpu_nvlinks_to(a->nvlinks, b->id);
        const AldGpuNvlinks *of_b = ald_gpu_nvlinks_to(b->nvlinks, a->id);

        if (of_a && of_b && of_a->n == of_b->n)
                add_nvlinks(joins, a, b, of_a, of_b, NULL);
}

/* Adds the links of both devices to a switch; all switches of a machine count as one. A pair with direct
 * links gets no second row. */
static void add_nvlinks_through_switch(Joins *joins, const AldGpu *a, const AldGpu *b)
{
        const AldGpuNvlinks *of_a = ald_gpu_nvlinks_to(a->nvlinks, "");
        const AldGpuNvlinks *of_b = ald_gpu_nvlinks_to(b->nvlinks, "");

        if (of_a && of_b && !ald_gpu_nvlinks_to(a->nvlinks, b->id) && !ald_gpu_nvlinks_to(b->nvlinks, a->id))
                add_nvlinks(joins, a, b, of_a, of_b,
                        ald_device_join_through_to_string(ALD_DEVICE_JOIN_THROUGH_SWITCH));
}

static const AldGpu *find_gpu(const Joins *joins, const char *id)
{
        return id ? ald_gpu_list_find(joins->gpus, id) : NULL;
}

static void add_xgmi(Joins *joins, const AldGpuKfd *kfd)
{
        const GArray *links = ald_gpu_kfd_links(kfd);

        for (guint i = 0; i < links->len; i++) {
                const AldGpuKfdLink *link = &g_array_index(links, AldGpuKfdLink, i);
                const AldGpu *gpu = find_gpu(joins, link->card), *peer = find_gpu(joins, link->peer);
                AldDeviceJoin row;

                if (!gpu || (link->peer && !peer))
                        continue;
                row = row_of(gpu, peer ? peer->id : HOST, ALD_DEVICE_JOIN_KIND_XGMI);
                row.bits_per_second = link->bits_per_second;
                add_row(joins, row);
        }
}

typedef void (*AldGpuJoinPair)(Joins *joins, const AldGpu *a, const AldGpu *b);

static void for_each_pair(Joins *joins, AldGpuJoinPair add_pair)
{
        for (guint i = 0; i < joins->gpus->len; i++)
                for (guint j = i + 1; j < joins->gpus->len; j++)
                        add_pair(joins, joins->gpus->pdata[i], joins->gpus->pdata[j]);
}

static guint count_on_pci(const GPtrArray *gpus)
{
        guint n = 0;

        for (guint i = 0; i < gpus->len; i++)
                n += ((const AldGpu *) gpus->pdata[i])->pcie != NULL;
        return n;
}

void ald_gpu_joins(int root, const GPtrArray *gpus, const AldGpuKfd *kfd, GStringChunk *texts, GArray *rows)
{
        Joins joins = {
                .gpus = gpus, .one_numa_node = has_one_numa_node(root), .texts = texts, .rows = rows
        };

        for (guint i = 0; i < gpus->len; i++)
                add_pcie_to_host(&joins, gpus->pdata[i]);
        add_xgmi(&joins, kfd);
        for_each_pair(&joins, add_nvlinks_between);
        if (count_on_pci(gpus) > DEVICES_MAX)
                return;
        for_each_pair(&joins, add_nvlinks_through_switch);
        for_each_pair(&joins, add_pcie_between);
}

static void check_pair(const AldGpu *a, const AldGpu *b)
{
        const AldGpuNvlinks *of_a = ald_gpu_nvlinks_to(a->nvlinks, b->id);
        const AldGpuNvlinks *of_b = ald_gpu_nvlinks_to(b->nvlinks, a->id);
        uint64_t n_a = of_a ? of_a->n : 0, n_b = of_b ? of_b->n : 0;

        if (a->nvlinks && b->nvlinks && n_a != n_b)
                g_message("%s reports %" PRIu64 " links of NVLink to %s, which reports %" PRIu64
                          "; they are left out",
                        a->id, n_a, b->id, n_b);
}

void ald_gpu_joins_check(const GPtrArray *gpus)
{
        for (guint i = 0; i < gpus->len; i++)
                for (guint j = i + 1; j < gpus->len; j++)
                        check_pair(gpus->pdata[i], gpus->pdata[j]);
}
