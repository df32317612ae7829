/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu-amd.h"
#include "services/common/sysroot.h"
#include "services/telemetry/gpu-hwmon.h"

#define MI300A 0x74a0

/*
 * Whether this is an APU, whose memory is that of the host; ALD_ABSENT_BOOLEAN where nothing tells.
 *
 * The size of the VRAM does not tell: firmware may carve out 512 MiB or 96 GiB of a Strix Halo. The kernel
 * knows, and shows it in one place: only for an APU does the hwmon chip of amdgpu have the voltage of the
 * north bridge
 * ("vddnb", in1). The exception is the MI300A, which has no such sensor and is known by its number.
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

static uint64_t read_size(int root, const char *device, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s", device, name);
        uint64_t value;

        if (ald_sysroot_read_uint64(root, path, &value) < 0 || value == 0 || value > ALD_INTEGER_MAX)
                return ALD_ABSENT_UINT64;
        return value;
}

void ald_gpu_amd_facts(int root, const char *path, uint16_t device, AldGpuFacts *facts)
{
        g_autofree char *name_path = g_strdup_printf("%s/product_name", path);
        uint64_t vram = read_size(root, path, "mem_info_vram_total");
        uint64_t shared = read_size(root, path, "mem_info_gtt_total");

        (void) ald_sysroot_read_string(root, name_path, &facts->name);
        (void) ald_sysroot_read_string(root, "sys/module/amdgpu/version", &facts->driver_version);
        facts->unified = is_apu(root, path, device);
        facts->memory_total_bytes = vram;
        /* An APU addresses its carve-out and the host memory mapped for it alike; an MI300A counts all as
         * VRAM. */
        if (facts->unified == 1 && device != MI300A && vram != ALD_ABSENT_UINT64 &&
                shared != ALD_ABSENT_UINT64)
                facts->memory_total_bytes = vram + shared;
        else if (facts->unified == 1 && vram == ALD_ABSENT_UINT64)
                facts->memory_total_bytes = shared;
}
