/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-device.h"
#include "services/telemetry/gpu/gpu-hwmon.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-pci.h"

#define MI300A 0x74a0

#define AMDGPU_IDS "usr/share/libdrm/amdgpu.ids"

/*
 * Returns whether this is an APU, which computes in host memory; ALD_ABSENT_BOOLEAN if unknown.
 *
 * The size of the VRAM does not show it: firmware may carve out 512 MiB or 96 GiB of a Strix Halo. The kernel
 * knows, and shows it in one place: only for an APU does the hwmon chip of amdgpu have the voltage of the
 * north bridge ("vddnb", in1). The exception is the MI300A, which has no such sensor and is known by its
 * number.
 */
static int is_apu(int root, const char *path, uint16_t device)
{
        g_autofree char *hwmon = NULL, *label_path = NULL, *label = NULL;

        if (device == MI300A)
                return 1;
        hwmon = ald_gpu_hwmon_path(root, path);
        if (!hwmon)
                return ALD_ABSENT_BOOLEAN;
        label_path = g_strdup_printf("%s/in1_label", hwmon);
        return ald_sysroot_read_string(root, label_path, &label) >= 0 && g_str_equal(label, "vddnb");
}

/* Returns whether a card is partitioned. Partitions have render nodes of their own, but neither a PCI address
 * nor figures. */
static bool is_partitioned(int root, const char *device)
{
        static const char *const modes[] = { "DPX", "TPX", "QPX", "CPX", NULL };
        g_autofree char *path = g_strdup_printf("%s/current_compute_partition", device), *mode = NULL;

        return ald_sysroot_read_string(root, path, &mode) >= 0 && g_strv_contains(modes, mode);
}

static uint64_t read_size(int root, const char *device, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s", device, name);
        uint64_t value;

        if (ald_sysroot_read_uint64(root, path, &value) < 0 || value == 0 || value > ALD_INTEGER_MAX)
                return ALD_ABSENT_UINT64;
        return value;
}

/* Reads the name from libdrm's list, since only server cards have a product_name. */
static char *read_amd_name(int root, const char *device, uint16_t number)
{
        g_autofree char *revision_path = g_strdup_printf("%s/revision", device), *text = NULL;
        uint64_t revision;

        if (ald_sysroot_read_uint64(root, revision_path, &revision) < 0 || revision > UINT8_MAX ||
                ald_sysroot_read(root, AMDGPU_IDS, &text) < 0)
                return NULL;
        return ald_gpu_name_from_amdgpu_ids(text, number, (uint8_t) revision);
}

/* Reads the facts that amdgpu reports about a device with this PCI number. */
static void gpu_amd_facts(int root, uint16_t device, AldGpu *gpu)
{
        const char *path = gpu->path;
        AldGpuFacts *facts = &gpu->sysfs;
        g_autofree char *name_path = g_strdup_printf("%s/product_name", path);

        (void) ald_sysroot_read_string(root, name_path, &facts->name);
        if (!facts->name)
                facts->name = read_amd_name(root, path, device);
        (void) ald_sysroot_read_string(root, "sys/module/amdgpu/version", &facts->driver_version);
        facts->unified = is_apu(root, path, device);
        facts->memory_total_bytes = read_size(root, path, "mem_info_vram_total");
        facts->shared_bytes = read_size(root, path, "mem_info_gtt_total");
        /* An MI300A reports all memory of the host as VRAM. */
        if (device == MI300A && facts->memory_total_bytes != ALD_ABSENT_UINT64) {
                facts->shared_bytes = facts->memory_total_bytes;
                facts->memory_total_bytes = ALD_ABSENT_UINT64;
                facts->vram_is_shared = true;
        }
        gpu->is_partitioned = is_partitioned(root, path);
}

#define DEVICES "sys/bus/pci/devices"

/* The upper bytes of PCI's class. */
#define BASE_DISPLAY 0x03
#define CLASS_ACCELERATOR 0x1200

#define TILES_MAX 8u /* of an Intel GPU */

static uint64_t read_number(int root, const char *folder, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, name);
        uint64_t value = 0;

        (void) ald_sysroot_read_uint64(root, path, &value);
        return value;
}

static bool has_entry(int root, const char *folder, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, name);

        return ald_sysroot_exists(root, path);
}

char *ald_gpu_parse_nvidia_model(const char *text)
{
        static const char key[] = "Model:";
        g_autofree char *model = NULL;

        if (!g_str_has_prefix(text, key))
                return NULL;
        text += strlen(key);
        model = g_strndup(text, strcspn(text, "\n"));
        g_strstrip(model);
        return *model == '\0' || strchr(model, '?') ? NULL : g_steal_pointer(&model);
}

/* Returns whether a device is passed through to a virtual machine, so that it cannot be used here. VFIO has
 * many drivers: vfio-pci, nvgrace_gpu_vfio_pci, xe-vfio-pci. */
static bool is_given_away(const char *driver)
{
        static const char *const keepers[] = { "pci-stub", "pciback", "xen-pciback", NULL };

        return driver && (strstr(driver, "vfio") || g_strv_contains(keepers, driver));
}

static bool is_gpu_driver(const char *driver)
{
        static const char *const drivers[] = { "amdgpu", "i915", "nouveau", "nova", "nvidia", "radeon", "xe",
                NULL };

        return driver && g_strv_contains(drivers, driver);
}

/* Returns the class of a device. AMD and NVIDIA give some of their GPUs the class of accelerators. */
static AldBackendClass class_of(uint64_t pci_class, uint16_t vendor, const char *driver)
{
        if (pci_class >> 16 == BASE_DISPLAY || is_gpu_driver(driver) || vendor == ALD_PCI_AMD ||
                vendor == ALD_PCI_NVIDIA)
                return ALD_BACKEND_CLASS_GPU;
        return ALD_BACKEND_CLASS_ACCELERATOR;
}

/* Reads the names in the hardware database. It names only the vendors for which we have no short name. */
static void read_hwdb_names(int root, AldGpu *gpu)
{
        g_autofree char *path = g_strdup_printf("%s/modalias", gpu->path), *modalias = NULL;

        if (ald_sysroot_read_string(root, path, &modalias) < 0)
                return;
        if (!gpu->vendor)
                gpu->vendor = ald_gpu_vendor_from_hwdb(modalias);
        gpu->fallback_name = ald_gpu_name_from_hwdb(modalias, gpu->vendor);
}

static void set_fallback_name(int root, AldGpu *gpu, uint16_t device)
{
        read_hwdb_names(root, gpu);
        if (!gpu->fallback_name)
                gpu->fallback_name = g_strdup_printf(
                        "%s %04x:%04x", gpu->vendor ?: "PCI", gpu->pci_vendor, device);
}

static void add_nvidia_facts(int root, AldGpu *gpu)
{
        g_autofree char *path = g_strdup_printf("proc/driver/nvidia/gpus/%s/information", gpu->id);
        g_autofree char *text = NULL;

        gpu->has_nvml = true;
        (void) ald_sysroot_read_string(root, "sys/module/nvidia/version", &gpu->sysfs.driver_version);
        if (ald_sysroot_read(root, path, &text) < 0)
                return;
        gpu->sysfs.name = ald_gpu_parse_nvidia_model(text);
}

/* Returns whether a device is part of the processor. Intel always gives integrated graphics the first
 * address, and the accelerator the second one. */
static bool is_intel_integrated(const AldGpu *gpu)
{
        return g_str_equal(gpu->id, gpu->class == ALD_BACKEND_CLASS_GPU ? "0000:00:02.0" : "0000:00:0b.0");
}

/* Returns the memory of an Intel card, or absent. Only xe shows it, and only for cards; a GPU of several
 * tiles has some of it at each. */
static uint64_t read_all_memory(int root, const char *device)
{
        uint64_t sum = 0;

        for (unsigned tile = 0; tile < TILES_MAX; tile++) {
                g_autofree char *name = g_strdup_printf("tile%u/physical_vram_size_bytes", tile);
                uint64_t bytes = read_size(root, device, name);

                if (bytes == ALD_ABSENT_UINT64 || __builtin_add_overflow(sum, bytes, &sum))
                        break;
        }
        return sum > 0 && sum <= ALD_INTEGER_MAX ? sum : ALD_ABSENT_UINT64;
}

static void add_facts(int root, AldGpu *gpu, uint16_t device)
{
        if (g_strcmp0(gpu->driver, "nvidia") == 0) {
                add_nvidia_facts(root, gpu);
        } else if (g_strcmp0(gpu->driver, "amdgpu") == 0) {
                gpu_amd_facts(root, device, gpu);
        } else if (ald_gpu_is_of_windows(gpu)) {
                gpu->has_nvml = true;
        } else if (gpu->pci_vendor == ALD_PCI_INTEL) {
                gpu->all_memory = read_all_memory(root, gpu->path);
                gpu->sysfs.unified = gpu->all_memory == ALD_ABSENT_UINT64 && is_intel_integrated(gpu);
        }
}

static AldGpu *read_device(int root, const char *id)
{
        g_autofree char *path = g_strdup_printf(DEVICES "/%s", id);
        g_autofree char *link = g_strdup_printf("%s/driver", path);
        g_autofree char *driver = NULL;
        uint64_t pci_class = read_number(root, path, "class");
        uint16_t vendor, device;
        AldGpu *gpu;

        if (pci_class >> 16 != BASE_DISPLAY && pci_class >> 8 != CLASS_ACCELERATOR &&
                !has_entry(root, path, "accel"))
                return NULL;
        (void) ald_sysroot_link_name(root, link, &driver);
        if (is_given_away(driver))
                return NULL;

        vendor = (uint16_t) read_number(root, path, "vendor");
        device = (uint16_t) read_number(root, path, "device");
        gpu = ald_gpu_new(id, path, class_of(pci_class, vendor, driver));
        gpu->pci_vendor = vendor;
        gpu->vendor = g_strdup(ald_gpu_pci_vendor(vendor));
        gpu->driver = g_steal_pointer(&driver);
        gpu->is_display = pci_class >> 16 == BASE_DISPLAY && ald_gpu_vendor_is_display(vendor);
        set_fallback_name(root, gpu, device);
        add_facts(root, gpu, device);
        return gpu;
}

/* Returns the address of the card whose SR-IOV virtual function this is, freed by the caller; NULL for a
 * whole device, and within a virtual machine. */
static char *physical_function_of(int root, const char *id)
{
        g_autofree char *link = g_strdup_printf(DEVICES "/%s/physfn", id);
        char *address = NULL;

        (void) ald_sysroot_link_name(root, link, &address);
        return address;
}

/* Adds a virtual function to its card. If the card is not visible because a virtual machine has it, a virtual
 * function with a driver is a device like any other. */
static void add_virtual_function(int root, const char *id, const char *card, GPtrArray *gpus)
{
        AldGpu *physical = ald_gpu_list_find(gpus, card);
        g_autoptr(AldGpu) gpu = NULL;

        if (physical) {
                ald_gpu_add_function(physical, id);
                return;
        }
        gpu = read_device(root, id);
        if (gpu && gpu->driver)
                g_ptr_array_add(gpus, g_steal_pointer(&gpu));
}

void ald_gpu_pci_scan(int root, GPtrArray *gpus)
{
        g_autoptr(GPtrArray) virtual_functions = g_ptr_array_new();
        g_auto(GStrv) ids = NULL;

        if (ald_sysroot_list(root, DEVICES, &ids) < 0)
                return;
        for (char **id = ids; *id; id++) {
                g_autofree char *card = NULL;
                AldGpu *gpu;

                if (!ald_gpu_is_pci_address(*id))
                        continue;
                card = physical_function_of(root, *id);
                if (card) {
                        g_ptr_array_add(virtual_functions, *id);
                        continue;
                }
                gpu = read_device(root, *id);
                if (gpu)
                        g_ptr_array_add(gpus, gpu);
        }
        for (guint i = 0; i < virtual_functions->len; i++) {
                const char *id = virtual_functions->pdata[i];
                g_autofree char *card = physical_function_of(root, id);

                if (card)
                        add_virtual_function(root, id, card, gpus);
        }
}
