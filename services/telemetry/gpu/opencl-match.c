/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/telemetry/gpu/gpu-cpu.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/opencl-match.h"

#define N_RANKS 3u

static bool contains_ignoring_case(const char *text, const char *part)
{
        g_autofree char *lower_text = text ? g_ascii_strdown(text, -1) : NULL;
        g_autofree char *lower_part = part ? g_ascii_strdown(part, -1) : NULL;

        return lower_text && lower_part && strstr(lower_text, lower_part);
}

/* Returns the rank of a device's platform; the vendor's platform, which knows its device best, has the
 * highest. */
static unsigned platform_rank(const AldOpenclDevice *device)
{
        if (contains_ignoring_case(device->platform, "clover"))
                return 0;
        if (contains_ignoring_case(device->platform, "rusticl") ||
                contains_ignoring_case(device->platform, "portable computing") ||
                contains_ignoring_case(device->platform, "pocl"))
                return 1;
        return 2;
}

/* Returns the class of a device; an unknown one counts as an accelerator. */
static AldBackendClass class_of(const AldOpenclDevice *device)
{
        int class = ald_backend_class_from_string(device->class);

        return class < 0 ? ALD_BACKEND_CLASS_ACCELERATOR : (AldBackendClass) class;
}

static const char *address_of(const AldOpenclDevice *device)
{
        return device->pci && ald_gpu_is_pci_address(device->pci) ? device->pci : NULL;
}

static bool is_of_vendor(const AldGpu *gpu, const AldOpenclDevice *device)
{
        if (gpu->pci_vendor != 0 && gpu->pci_vendor == device->vendor_id)
                return true;
        return contains_ignoring_case(device->vendor, gpu->vendor) ||
               (gpu->pci_vendor == ALD_PCI_AMD &&
                       contains_ignoring_case(device->vendor, "Advanced Micro Devices"));
}

static bool may_match(const AldGpu *gpu, const AldOpenclDevice *device)
{
        return gpu->path && gpu->class == class_of(device) && is_of_vendor(gpu, device) &&
               (gpu->sysfs.unified == ALD_ABSENT_BOOLEAN || device->unified == ALD_ABSENT_BOOLEAN ||
                       gpu->sysfs.unified == device->unified);
}

/*
 * Returns the only matching row, or NULL. Sets `ret_seen` if all matching rows were claimed by another
 * platform, or belong to a partitioned card, so that this is a duplicate or a part of one of them.
 */
static AldGpu *find_candidate(const GPtrArray *gpus, const AldOpenclDevice *device, bool *ret_seen)
{
        unsigned n_open = 0, n_seen = 0;
        AldGpu *found = NULL;

        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                if (!may_match(gpu, device) || g_strcmp0(gpu->opencl_platform, device->platform) == 0)
                        continue;
                if (gpu->opencl_platform || gpu->is_partitioned) {
                        n_seen++;
                } else {
                        n_open++;
                        found = gpu;
                }
        }
        *ret_seen = n_open == 0 && n_seen > 0;
        return n_open == 1 && n_seen == 0 ? found : NULL;
}

/* Returns whether the name is NVIDIA's name of a MIG instance: "NVIDIA A100-SXM4-40GB MIG 1g.5gb". NVML may
 * not have reported the instance yet. */
static bool is_instance(const AldOpenclDevice *device)
{
        return device->name && strstr(device->name, " MIG ");
}

static AldGpu *add_opencl_device(GPtrArray *gpus, const AldOpenclDevice *device)
{
        g_autofree char *id = g_strdup(address_of(device) ?: device->name ?: "opencl");
        AldGpu *gpu;

        for (unsigned n = 2; ald_gpu_list_find(gpus, id); n++) {
                g_free(id);
                id = g_strdup_printf("%s#%u", device->name ?: "opencl", n);
        }
        gpu = ald_gpu_new(id, NULL, class_of(device));
        gpu->vendor = g_strdup(device->vendor);
        g_ptr_array_add(gpus, gpu);
        return gpu;
}

/* Returns whether both are functions of one slot: 0000:05:00.3 and 0000:05:00.0. */
static bool is_same_slot(const char *a, const char *b)
{
        size_t length = strlen(a) - 1;

        return length + 1 == strlen(b) && strncmp(a, b, length) == 0;
}

/* Returns the card, which has a row, of a part without one that has this address: a virtual function, or a
 * partition, which ROCm distinguishes by the function number. NULL if there is none. */
static AldGpu *find_card_of_part(const GPtrArray *gpus, const char *pci)
{
        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                if (ald_gpu_has_function(gpu, pci) || (gpu->is_partitioned && is_same_slot(gpu->id, pci)))
                        return gpu;
        }
        return NULL;
}

/* Returns the instance of a card in MIG mode that OpenCL shows in place of the card, or NULL. Instances share
 * an address, so only the name identifies it, unless there is only one. */
static AldGpu *find_instance(
        const GPtrArray *gpus, const AldGpu *card, const AldOpenclDevice *device, unsigned *ret_n)
{
        AldGpu *any = NULL, *named = NULL;
        unsigned n = 0, n_named = 0;

        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                if (g_strcmp0(gpu->parent, card->id) != 0)
                        continue;
                any = gpu;
                n++;
                if (g_strcmp0(gpu->nvml.name, device->name) != 0)
                        continue;
                named = gpu;
                n_named++;
        }
        *ret_n = n;
        return n == 1 ? any : n_named == 1 ? named : NULL;
}

/*
 * Returns the row at an address, or NULL. Sets `ret_seen` if the device is a part of a card without its own
 * row, or cannot be identified: then it is ignored, and not assigned to the whole card.
 */
static AldGpu *find_at_address(const GPtrArray *gpus, const AldOpenclDevice *device, bool *ret_seen)
{
        AldGpu *gpu = ald_gpu_list_find(gpus, device->pci), *instance;
        unsigned n_instances;

        if (!gpu || gpu->is_partitioned) {
                *ret_seen = gpu || find_card_of_part(gpus, device->pci);
                return NULL;
        }
        instance = find_instance(gpus, gpu, device, &n_instances);
        if (n_instances == 0 && !is_instance(device))
                return gpu;
        *ret_seen = instance == NULL;
        return instance;
}

/* Returns the row of the device; NULL if another platform has shown the same device, and for a part of a
 * card. */
static AldGpu *find_row(GPtrArray *gpus, const AldOpenclDevice *device)
{
        AldGpu *gpu = NULL;
        bool seen = false;

        if (class_of(device) == ALD_BACKEND_CLASS_CPU)
                gpu = ald_gpu_list_find(gpus, ALD_CPU_ID);
        else if (address_of(device))
                gpu = find_at_address(gpus, device, &seen);
        else if (is_instance(device))
                seen = true;
        else
                gpu = find_candidate(gpus, device, &seen);
        if (gpu ? gpu->opencl_platform != NULL : seen)
                return NULL;
        return gpu ?: add_opencl_device(gpus, device);
}

static void assign_device(AldGpu *gpu, const AldOpenclDevice *device)
{
        gpu->opencl_platform = g_strdup(device->platform);
        gpu->opencl.name = g_strdup(device->name);
        gpu->opencl.driver_version = g_strdup(device->driver_version);
        gpu->opencl.architecture = g_strdup(device->architecture);
        gpu->opencl.runtime_version = g_strdup(device->runtime_version);
        gpu->opencl.memory_total_bytes = device->memory_total_bytes;
        gpu->opencl.unified = device->unified;
}

/* Clears the assignments, and removes the rows that only OpenCL knew: they have no folder in sysfs, and are
 * neither an instance of a card nor the processor. */
static void clear_assignments(GPtrArray *gpus)
{
        for (guint i = gpus->len; i-- > 0;) {
                AldGpu *gpu = gpus->pdata[i];

                ald_gpu_facts_clear(&gpu->opencl);
                g_clear_pointer(&gpu->opencl_platform, g_free);
                if (!gpu->path && !gpu->parent && gpu->class != ALD_BACKEND_CLASS_CPU)
                        g_ptr_array_remove_index(gpus, i);
        }
}

/* The best platforms come first, so that a later one finds its devices claimed. */
void ald_opencl_match(const AldOpenclAnswer *answer, GPtrArray *gpus)
{
        clear_assignments(gpus);
        for (unsigned wanted = N_RANKS; wanted-- > 0;)
                for (size_t i = 0; i < answer->devices.n; i++) {
                        const AldOpenclDevice *device = ald_rows_at(&answer->devices, i);
                        AldGpu *gpu = platform_rank(device) == wanted ? find_row(gpus, device) : NULL;

                        if (gpu)
                                assign_device(gpu, device);
                }
}
