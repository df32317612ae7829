/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/telemetry/gpu-cpu.h"
#include "services/telemetry/gpu-names.h"
#include "services/telemetry/opencl-answer.h"
#include "services/telemetry/opencl-match.h"

#define N_RANKS 3u

static bool contains(const char *text, const char *part)
{
        g_autofree char *lower_text = text ? g_ascii_strdown(text, -1) : NULL;
        g_autofree char *lower_part = part ? g_ascii_strdown(part, -1) : NULL;

        return lower_text && lower_part && strstr(lower_text, lower_part);
}

/* The platform of the vendor knows its device best. */
static unsigned rank(const AldOpenclDevice *device)
{
        if (contains(device->platform, "clover"))
                return 0;
        if (contains(device->platform, "rusticl") || contains(device->platform, "portable computing") ||
                contains(device->platform, "pocl"))
                return 1;
        return 2;
}

static bool is_of_vendor(const AldGpu *gpu, const AldOpenclDevice *device)
{
        if (gpu->pci_vendor != 0 && gpu->pci_vendor == device->vendor_id)
                return true;
        return contains(device->vendor, gpu->vendor) ||
               (gpu->pci_vendor == ALD_PCI_AMD && contains(device->vendor, "Advanced Micro Devices"));
}

static bool may_be(const AldGpu *gpu, const AldOpenclDevice *device)
{
        return gpu->path && gpu->class == device->class && is_of_vendor(gpu, device) &&
               (gpu->sysfs.unified == ALD_ABSENT_BOOLEAN || device->unified == ALD_ABSENT_BOOLEAN ||
                       gpu->sysfs.unified == device->unified);
}

/*
 * The only row that can be meant, or NULL. `ret_seen` says that each row it may be was claimed by another
 * platform, so that this is a second view of one of them.
 */
static AldGpu *find_candidate(const GPtrArray *gpus, const AldOpenclDevice *device, bool *ret_seen)
{
        unsigned n_open = 0, n_seen = 0;
        AldGpu *found = NULL;

        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                if (!may_be(gpu, device) || g_strcmp0(gpu->opencl_platform, device->platform) == 0)
                        continue;
                if (gpu->opencl_platform) {
                        n_seen++;
                } else {
                        n_open++;
                        found = gpu;
                }
        }
        *ret_seen = n_open == 0 && n_seen > 0;
        return n_open == 1 && n_seen == 0 ? found : NULL;
}

static AldGpu *add_own(GPtrArray *gpus, const AldOpenclDevice *device)
{
        g_autofree char *id = g_strdup(device->pci ?: device->name ?: "opencl");
        AldGpu *gpu;

        for (unsigned n = 2; ald_gpu_list_find(gpus, id); n++) {
                g_free(id);
                id = g_strdup_printf("%s#%u", device->name ?: "opencl", n);
        }
        gpu = ald_gpu_new(id, NULL, device->class);
        gpu->vendor = g_strdup(device->vendor);
        g_ptr_array_add(gpus, gpu);
        return gpu;
}

/* The row of the device; NULL where another platform has shown the same one. */
static AldGpu *find_row(GPtrArray *gpus, const AldOpenclDevice *device)
{
        AldGpu *gpu = NULL;
        bool seen = false;

        if (device->class == ALD_BACKEND_CLASS_CPU)
                gpu = ald_gpu_list_find(gpus, ALD_CPU_ID);
        else if (device->pci)
                gpu = ald_gpu_list_find(gpus, device->pci);
        else
                gpu = find_candidate(gpus, device, &seen);
        if (gpu ? gpu->opencl_platform != NULL : seen)
                return NULL;
        return gpu ?: add_own(gpus, device);
}

static void claim(AldGpu *gpu, const AldOpenclDevice *device)
{
        gpu->opencl_platform = g_strdup(device->platform);
        gpu->opencl.name = g_strdup(device->name);
        gpu->opencl.driver_version = g_strdup(device->driver_version);
        gpu->opencl.memory_total_bytes = device->memory_total_bytes;
        gpu->opencl.unified = device->unified;
}

/* Rows that OpenCL alone knew have neither a folder in sysfs nor the processor behind them. */
static void forget(GPtrArray *gpus)
{
        for (guint i = gpus->len; i-- > 0;) {
                AldGpu *gpu = gpus->pdata[i];

                ald_gpu_facts_clear(&gpu->opencl);
                g_clear_pointer(&gpu->opencl_platform, g_free);
                if (!gpu->path && gpu->class != ALD_BACKEND_CLASS_CPU)
                        g_ptr_array_remove_index(gpus, i);
        }
}

/* The best platforms come first, so that a later one finds its devices claimed. */
void ald_opencl_match(const GPtrArray *devices, GPtrArray *gpus)
{
        forget(gpus);
        for (unsigned wanted = N_RANKS; wanted-- > 0;)
                for (guint i = 0; i < devices->len; i++) {
                        const AldOpenclDevice *device = devices->pdata[i];
                        AldGpu *gpu = rank(device) == wanted ? find_row(gpus, device) : NULL;

                        if (gpu)
                                claim(gpu, device);
                }
}
