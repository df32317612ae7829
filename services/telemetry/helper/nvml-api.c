/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "services/telemetry/helper/nvml-api.h"

/* Returns the first of these symbols that the library has, or NULL. */
static void *find_symbol(void *library, const char *const *names)
{
        for (; *names; names++) {
                void *symbol = dlsym(library, *names);

                if (symbol)
                        return symbol;
        }
        return NULL;
}

/* Newer names come first. Old drivers lack them, and the older names lead to older layouts. */
#define LOOK_UP(nvml, member, ...) \
        *(void **) &(nvml)->member = find_symbol((nvml)->library, (const char *const[]){ __VA_ARGS__, NULL })

/* Looks up the lists of processes. Rows of both _v2 and _v3 are alike. */
static void look_up_lists(AldNvml *nvml)
{
        LOOK_UP(nvml, list_compute, "nvmlDeviceGetComputeRunningProcesses_v3",
                "nvmlDeviceGetComputeRunningProcesses_v2");
        LOOK_UP(nvml, list_graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3",
                "nvmlDeviceGetGraphicsRunningProcesses_v2");
        nvml->has_old_processes = !nvml->list_compute;
        if (!nvml->has_old_processes)
                return;
        LOOK_UP(nvml, list_compute, "nvmlDeviceGetComputeRunningProcesses");
        LOOK_UP(nvml, list_graphics, "nvmlDeviceGetGraphicsRunningProcesses");
}

const char *ald_nvml_load(AldNvml *nvml)
{
        const char *path = getenv("ALIDADE_NVML_LIBRARY");
        const char *const paths[] = { path && *path ? path : "libnvidia-ml.so.1",
                "/usr/lib/wsl/lib/libnvidia-ml.so.1" /* of Windows, in WSL2 */ };

        *nvml = (AldNvml){};
        nvml->library = dlopen(paths[0], RTLD_NOW | RTLD_LOCAL);
        if (!nvml->library && access(paths[1], F_OK) == 0)
                nvml->library = dlopen(paths[1], RTLD_NOW | RTLD_LOCAL);
        if (!nvml->library)
                return dlerror();

        LOOK_UP(nvml, init, "nvmlInit_v2", "nvmlInit");
        LOOK_UP(nvml, error_string, "nvmlErrorString");
        LOOK_UP(nvml, driver_version, "nvmlSystemGetDriverVersion");
        LOOK_UP(nvml, handle_by_pci, "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId");
        LOOK_UP(nvml, handle_by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
        LOOK_UP(nvml, name, "nvmlDeviceGetName");
        LOOK_UP(nvml, memory2, "nvmlDeviceGetMemoryInfo_v2");
        LOOK_UP(nvml, memory, "nvmlDeviceGetMemoryInfo");
        LOOK_UP(nvml, utilization, "nvmlDeviceGetUtilizationRates");
        LOOK_UP(nvml, temperature_v, "nvmlDeviceGetTemperatureV");
        LOOK_UP(nvml, temperature, "nvmlDeviceGetTemperature");
        LOOK_UP(nvml, power, "nvmlDeviceGetPowerUsage");
        LOOK_UP(nvml, clock, "nvmlDeviceGetClockInfo");
        LOOK_UP(nvml, power_limit, "nvmlDeviceGetEnforcedPowerLimit");
        LOOK_UP(nvml, energy, "nvmlDeviceGetTotalEnergyConsumption");
        LOOK_UP(nvml, n_fans, "nvmlDeviceGetNumFans");
        LOOK_UP(nvml, fan, "nvmlDeviceGetFanSpeed_v2");
        LOOK_UP(nvml, only_fan, "nvmlDeviceGetFanSpeed");
        LOOK_UP(nvml, clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons",
                "nvmlDeviceGetCurrentClocksThrottleReasons");
        LOOK_UP(nvml, encoder, "nvmlDeviceGetEncoderUtilization");
        LOOK_UP(nvml, decoder, "nvmlDeviceGetDecoderUtilization");
        LOOK_UP(nvml, compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3",
                "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses");
        look_up_lists(nvml);
        LOOK_UP(nvml, process_utilization, "nvmlDeviceGetProcessUtilization");
        LOOK_UP(nvml, mig_mode, "nvmlDeviceGetMigMode");
        LOOK_UP(nvml, mig_count, "nvmlDeviceGetMaxMigDeviceCount");
        LOOK_UP(nvml, mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
        LOOK_UP(nvml, gpu_instance, "nvmlDeviceGetGpuInstanceId");
        LOOK_UP(nvml, compute_instance, "nvmlDeviceGetComputeInstanceId");
        LOOK_UP(nvml, compute_capability, "nvmlDeviceGetCudaComputeCapability");
        LOOK_UP(nvml, link_state, "nvmlDeviceGetNvLinkState");
        LOOK_UP(nvml, link_remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType");
        LOOK_UP(nvml, link_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
        LOOK_UP(nvml, fields, "nvmlDeviceGetFieldValues");
        return NULL;
}

int ald_nvml_init(const AldNvml *nvml)
{
        return nvml->init ? nvml->init() : ALD_NVML_FUNCTION_NOT_FOUND;
}

const char *ald_nvml_explain(const AldNvml *nvml, int result)
{
        const char *text = nvml->error_string ? nvml->error_string(result) : NULL;

        return text ?: "error without a description";
}
