/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <stdlib.h>

#include "probes/compute/clock/clocks-private.h"

/*
 * These are the few parts of NVML that are used, declared after its documentation. A function that the driver
 * lacks is NULL, and its figure is unknown.
 */
#define SUCCESS 0
#define INSUFFICIENT_SIZE 7
#define PROCESSES_MAX 100000u
#define CLOCK_SM 1
#define CLOCK_MEMORY 2
#define CLOCK_HZ_MAX UINT64_C(100000000000)
#define TRANSFERS_PER_CLOCK 2.0 /* per cycle of the reported clock, for each kind of memory */
#define BITS_PER_BYTE 8.0

typedef struct Handle Handle; /* the library's own */

typedef struct Utilization {
        unsigned gpu, memory; /* percent */
} Utilization;

typedef struct Memory {
        unsigned long long total, free, used;
} Memory;

typedef struct Nvml {
        Handle *device;
        int (*clock)(Handle *device, int type, unsigned *ret_mhz);
        int (*clock_max)(Handle *device, int type, unsigned *ret_mhz);
        int (*reasons)(Handle *device, unsigned long long *ret);
        int (*utilization)(Handle *device, Utilization *ret);
        int (*bus_width)(Handle *device, unsigned *ret_bits);
        int (*power_limit)(Handle *device, unsigned *ret_milliwatts);
        int (*processes)(Handle *device, unsigned *count, void *rows);
        int (*memory)(Handle *device, Memory *ret);
} Nvml;

/* Finds the handle of the device. The library writes the domain of a PCI address with eight digits, and
 * accepts UUIDs only in its own form. */
static bool find_device(void *library, const AldOpenclTarget *device, Handle **ret)
{
        int (*by_pci)(const char *, Handle **) = NULL;
        int (*by_uuid)(const char *, Handle **) = NULL;
        g_autofree char *text = NULL;

        *(void **) &by_pci = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2")
                                     ?: dlsym(library, "nvmlDeviceGetHandleByPciBusId");
        *(void **) &by_uuid = dlsym(library, "nvmlDeviceGetHandleByUUID");
        if (by_pci && device->listed.pci) {
                text = g_strdup_printf("0000%s", device->listed.pci);
                for (char *at = text; *at; at++)
                        *at = g_ascii_toupper(*at);
                return by_pci(text, ret) == SUCCESS;
        }
        text = g_strdup_printf("GPU-%s", device->listed.uuid);
        return by_uuid && device->listed.uuid && by_uuid(text, ret) == SUCCESS;
}

/* Initializes the library, which attaches to a GPU only when its handle is looked up. */
static bool start_library(void *library)
{
        int (*init)(void) = NULL;

        *(void **) &init = dlsym(library, "nvmlInit_v2") ?: dlsym(library, "nvmlInit");
        return init && init() == SUCCESS;
}

/* The library stays loaded, like the drivers. */
void *ald_clocks_nvml_open(const AldOpenclTarget *device)
{
        const char *path = getenv("ALIDADE_NVML_LIBRARY");
        void *library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        Nvml nvml = {}, *ret;

        if (!library)
                return NULL;
        if (!start_library(library) || !find_device(library, device, &nvml.device)) {
                dlclose(library);
                return NULL;
        }
        *(void **) &nvml.clock = dlsym(library, "nvmlDeviceGetClockInfo");
        *(void **) &nvml.clock_max = dlsym(library, "nvmlDeviceGetMaxClockInfo");
        *(void **) &nvml.reasons = dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons")
                                           ?: dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
        *(void **) &nvml.utilization = dlsym(library, "nvmlDeviceGetUtilizationRates");
        *(void **) &nvml.bus_width = dlsym(library, "nvmlDeviceGetMemoryBusWidth");
        *(void **) &nvml.power_limit = dlsym(library, "nvmlDeviceGetEnforcedPowerLimit");
        *(void **) &nvml.processes = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3")
                                             ?: dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2")
                                             ?: dlsym(library, "nvmlDeviceGetComputeRunningProcesses");
        *(void **) &nvml.memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
        ret = g_new(Nvml, 1);
        *ret = nvml;
        return ret;
}

static void read_nvml(void *data, AldClockReading *ret)
{
        Nvml *nvml = data;
        unsigned long long bits;
        unsigned mhz;

        if (nvml->clock && nvml->clock(nvml->device, CLOCK_SM, &mhz) == SUCCESS &&
                mhz <= CLOCK_HZ_MAX / 1000000)
                ret->hz = UINT64_C(1000000) * mhz;
        if (nvml->reasons && nvml->reasons(nvml->device, &bits) == SUCCESS)
                ret->reasons = ald_throttle_from_nvml(bits);
}

static int usage_of_nvml(void *data)
{
        Nvml *nvml = data;
        Utilization utilization;

        if (!nvml->utilization || nvml->utilization(nvml->device, &utilization) != SUCCESS ||
                utilization.gpu > 100)
                return -1;
        return (int) utilization.gpu;
}

static double memory_peak_of_nvml(void *data)
{
        Nvml *nvml = data;
        unsigned mhz, bits;

        if (!nvml->clock_max || !nvml->bus_width ||
                nvml->clock_max(nvml->device, CLOCK_MEMORY, &mhz) != SUCCESS ||
                nvml->bus_width(nvml->device, &bits) != SUCCESS)
                return 0;
        return TRANSFERS_PER_CLOCK * 1e6 * mhz * bits / BITS_PER_BYTE;
}

static uint64_t power_limit_of_nvml(void *data)
{
        Nvml *nvml = data;
        unsigned milliwatts;

        if (!nvml->power_limit || nvml->power_limit(nvml->device, &milliwatts) != SUCCESS)
                return 0;
        return UINT64_C(1000) * milliwatts;
}

/* Counts the processes: without room for rows, the library only returns their number. */
static int processes_of_nvml(void *data)
{
        Nvml *nvml = data;
        unsigned count = 0;
        int r = nvml->processes ? nvml->processes(nvml->device, &count, NULL) : -1;

        return (r == SUCCESS || r == INSUFFICIENT_SIZE) && count <= PROCESSES_MAX ? (int) count : -1;
}

static uint64_t memory_free_of_nvml(void *data)
{
        Nvml *nvml = data;
        Memory memory;

        if (!nvml->memory || nvml->memory(nvml->device, &memory) != SUCCESS || memory.free > memory.total)
                return 0;
        return memory.free;
}

const AldClockSource ald_clocks_nvml = {
        .close = g_free,
        .read = read_nvml,
        .usage = usage_of_nvml,
        .memory_peak = memory_peak_of_nvml,
        .power_limit = power_limit_of_nvml,
        .processes = processes_of_nvml,
        .memory_free = memory_free_of_nvml,
};
