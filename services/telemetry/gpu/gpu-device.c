/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-device.h"

#include "services/telemetry/gpu/gpu-live.h"
#include "services/telemetry/gpu/gpu-names.h"

AldGpu *ald_gpu_new(const char *id, const char *path, AldBackendClass class)
{
        static const AldGpuFacts unknown = ALD_GPU_FACTS_INIT;
        AldGpu *gpu = g_new0(AldGpu, 1);

        gpu->id = g_strdup(id);
        gpu->path = g_strdup(path);
        gpu->class = class;
        gpu->host_memory = gpu->all_memory = ALD_ABSENT_UINT64;
        gpu->numa_node = ALD_ABSENT_UINT64;
        gpu->sysfs = gpu->nvml = gpu->opencl = unknown;
        return gpu;
}

void ald_gpu_facts_clear(AldGpuFacts *facts)
{
        g_free(facts->name);
        g_free(facts->driver_version);
        g_free(facts->architecture);
        g_free(facts->runtime_version);
        *facts = (AldGpuFacts) ALD_GPU_FACTS_INIT;
}

void ald_gpu_add_function(AldGpu *gpu, const char *address)
{
        if (!gpu->functions)
                gpu->functions = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(gpu->functions, g_strdup(address));
}

bool ald_gpu_has_function(const AldGpu *gpu, const char *address)
{
        return gpu->functions && g_ptr_array_find_with_equal_func(gpu->functions, address, g_str_equal, NULL);
}

static bool functions_equal(const AldGpu *a, const AldGpu *b)
{
        guint n = a->functions ? a->functions->len : 0;

        if (n != (b->functions ? b->functions->len : 0))
                return false;
        for (guint i = 0; i < n; i++)
                if (!g_str_equal(a->functions->pdata[i], b->functions->pdata[i]))
                        return false;
        return true;
}

bool ald_gpu_facts_equal(const AldGpuFacts *a, const AldGpuFacts *b)
{
        return g_strcmp0(a->name, b->name) == 0 && g_strcmp0(a->driver_version, b->driver_version) == 0 &&
               g_strcmp0(a->architecture, b->architecture) == 0 &&
               g_strcmp0(a->runtime_version, b->runtime_version) == 0 &&
               a->memory_total_bytes == b->memory_total_bytes && a->shared_bytes == b->shared_bytes &&
               a->unified == b->unified;
}

void ald_gpu_free(AldGpu *gpu)
{
        if (!gpu)
                return;
        ald_gpu_facts_clear(&gpu->sysfs);
        ald_gpu_facts_clear(&gpu->nvml);
        ald_gpu_facts_clear(&gpu->opencl);
        g_free(gpu->id);
        g_free(gpu->path);
        g_free(gpu->parent);
        g_clear_pointer(&gpu->functions, g_ptr_array_unref);
        g_free(gpu->vendor);
        g_free(gpu->driver);
        g_free(gpu->fallback_name);
        g_free(gpu->opencl_platform);
        ald_gpu_pcie_free(gpu->pcie);
        g_clear_pointer(&gpu->nvlinks, g_array_unref);
        g_clear_pointer(&gpu->processes, g_array_unref);
        ald_gpu_live_free(gpu->live);
        g_free(gpu);
}

GPtrArray *ald_gpu_list_new(void)
{
        return g_ptr_array_new_with_free_func((GDestroyNotify) ald_gpu_free);
}

static gboolean has_id(gconstpointer gpu, gconstpointer id)
{
        return g_str_equal(((const AldGpu *) gpu)->id, id);
}

AldGpu *ald_gpu_list_find(const GPtrArray *gpus, const char *id)
{
        guint index;

        return g_ptr_array_find_with_equal_func((GPtrArray *) gpus, id, has_id, &index) ? gpus->pdata[index]
                                                                                        : NULL;
}

AldGpu *ald_gpu_list_take(GPtrArray *gpus, const char *id)
{
        guint index;

        return g_ptr_array_find_with_equal_func(gpus, id, has_id, &index)
                       ? g_ptr_array_steal_index(gpus, index)
                       : NULL;
}

bool ald_gpu_equal(const AldGpu *a, const AldGpu *b)
{
        return g_str_equal(a->id, b->id) && g_strcmp0(a->path, b->path) == 0 && a->class == b->class &&
               g_strcmp0(a->vendor, b->vendor) == 0 && g_strcmp0(a->driver, b->driver) == 0 &&
               g_strcmp0(a->fallback_name, b->fallback_name) == 0 && a->pci_vendor == b->pci_vendor &&
               a->is_display == b->is_display && a->has_nvml == b->has_nvml &&
               a->is_partitioned == b->is_partitioned && functions_equal(a, b) &&
               a->host_memory == b->host_memory && a->all_memory == b->all_memory &&
               a->numa_node == b->numa_node && ald_gpu_pcie_same(a->pcie, b->pcie) &&
               ald_gpu_facts_equal(&a->sysfs, &b->sysfs);
}

bool ald_gpu_is_of_windows(const AldGpu *gpu)
{
        return g_strcmp0(gpu->driver, "dxgkrnl") == 0;
}

bool ald_gpu_is_shown(const AldGpu *gpu)
{
        return !gpu->is_display || gpu->opencl_platform || (ald_gpu_is_of_windows(gpu) && gpu->nvml.name);
}

/* Returns the device's own memory. OpenCL does not report which part of the memory of a unified device is its
 * own, and NVML may report the host's memory for a device within a system on chip. */
static uint64_t memory_of(const AldGpu *gpu, int unified)
{
        if (gpu->nvml.memory_total_bytes != ALD_ABSENT_UINT64 && unified != 1)
                return gpu->nvml.memory_total_bytes;
        if (gpu->sysfs.memory_total_bytes != ALD_ABSENT_UINT64)
                return gpu->sysfs.memory_total_bytes;
        if (unified == 1)
                return ALD_ABSENT_UINT64;
        return gpu->opencl.memory_total_bytes != ALD_ABSENT_UINT64 ? gpu->opencl.memory_total_bytes
                                                                   : gpu->all_memory;
}

static uint64_t shared_of(const AldGpu *gpu, int unified)
{
        if (gpu->sysfs.shared_bytes != ALD_ABSENT_UINT64)
                return gpu->sysfs.shared_bytes;
        /* If the device also has its own memory, it is unknown how much of either kind OpenCL counted. */
        if (unified != 1 || memory_of(gpu, unified) != ALD_ABSENT_UINT64)
                return ALD_ABSENT_UINT64;
        return gpu->opencl.memory_total_bytes != ALD_ABSENT_UINT64 ? gpu->opencl.memory_total_bytes
                                                                   : gpu->host_memory;
}

/* Returns whether NVML reports as much memory as the host has. Some versions of NVML report the memory of the
 * host for a GPU within a system on chip. A card may be as large, but OpenCL does not report its memory as
 * the host's. */
static bool has_size_of_host(const AldGpu *gpu)
{
        uint64_t total = gpu->nvml.memory_total_bytes, host = gpu->host_memory;

        return total != ALD_ABSENT_UINT64 && host != ALD_ABSENT_UINT64 && total >= host / 32 * 31 &&
               total <= host / 32 * 33;
}

int ald_gpu_unified(const AldGpu *gpu)
{
        if (gpu->sysfs.unified == 1 || (gpu->opencl.unified == 1 && has_size_of_host(gpu)))
                return 1;
        if (gpu->nvml.unified != ALD_ABSENT_BOOLEAN)
                return gpu->nvml.unified;
        if (gpu->sysfs.unified != ALD_ABSENT_BOOLEAN)
                return gpu->sysfs.unified;
        return gpu->opencl.unified;
}

void ald_gpu_backend(const AldGpu *gpu, AldBackend *ret)
{
        int unified = ald_gpu_unified(gpu);

        *ret = (AldBackend){
                .id = gpu->id,
                .class = ald_backend_class_to_string(gpu->class),
                .name = gpu->nvml.name ?: gpu->sysfs.name ?: gpu->opencl.name ?: gpu->fallback_name,
                .vendor = ald_gpu_is_of_windows(gpu) && gpu->nvml.name ? ald_gpu_pci_vendor(ALD_PCI_NVIDIA)
                                                                       : gpu->vendor,
                .driver = gpu->driver,
                .driver_version = gpu->nvml.driver_version ?: gpu->sysfs.driver_version ?:
                        gpu->opencl.driver_version,
                .memory_total_bytes = memory_of(gpu, unified),
                .shared_bytes = shared_of(gpu, unified),
                .unified = unified,
                .parent = gpu->parent,
                .open_cl_platform = gpu->opencl_platform,
                .architecture = gpu->nvml.architecture ?: gpu->opencl.architecture,
                .runtime_version = gpu->opencl.runtime_version,
                .numa_node = gpu->numa_node,
        };
}
