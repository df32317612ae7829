/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-cpu.h"
#include "services/common/cpuinfo.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/memory.h"

uint64_t ald_gpu_host_memory(int root)
{
        AldMemory memory = ALD_MEMORY_INIT;
        g_autofree char *text = NULL;

        if (ald_sysroot_read(root, "proc/meminfo", &text) >= 0)
                ald_meminfo_parse(text, &memory);
        return memory.total_bytes;
}

AldGpu *ald_gpu_cpu(int root, uint64_t host_memory)
{
        AldGpu *cpu = ald_gpu_new(ALD_CPU_ID, NULL, ALD_BACKEND_CLASS_CPU);
        g_auto(AldCpuinfo) cpuinfo = { 0 };

        ald_cpuinfo_read(root, &cpuinfo);
        cpu->sysfs.unified = 1;
        cpu->sysfs.shared_bytes = host_memory;
        cpu->sysfs.name = g_steal_pointer(&cpuinfo.chip);
        cpu->vendor = g_strdup(cpuinfo.vendor);
        return cpu;
}
