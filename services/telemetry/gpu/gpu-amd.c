/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-amd.h"
#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-hwmon.h"

#define MI300A 0x74a0

/*
 * Whether this is an APU, which computes in host memory; ALD_ABSENT_BOOLEAN if unknown.
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

/* Partitions have render nodes of their own, but neither a PCI address nor figures. */
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

void ald_gpu_amd_facts(int root, uint16_t device, AldGpu *gpu)
{
        const char *path = gpu->path;
        AldGpuFacts *facts = &gpu->sysfs;
        g_autofree char *name_path = g_strdup_printf("%s/product_name", path);

        (void) ald_sysroot_read_string(root, name_path, &facts->name);
        (void) ald_sysroot_read_string(root, "sys/module/amdgpu/version", &facts->driver_version);
        facts->unified = is_apu(root, path, device);
        facts->memory_total_bytes = read_size(root, path, "mem_info_vram_total");
        facts->shared_bytes = read_size(root, path, "mem_info_gtt_total");
        /* What an MI300A calls VRAM is all of the memory of the host. */
        if (device == MI300A && facts->memory_total_bytes != ALD_ABSENT_UINT64) {
                facts->shared_bytes = facts->memory_total_bytes;
                facts->memory_total_bytes = ALD_ABSENT_UINT64;
                facts->vram_is_shared = true;
        }
        gpu->is_partitioned = is_partitioned(root, path);
}
