/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for NVIDIA's library: two GPUs, or what FAKE_NVML asks for: "errors", "init-error", "hang-init",
 * "hang-sample", "crash", "garbage", "gb10", "tegra", "zeros" (a Tegra, whose
 * memory is 0 bytes), "index" (the GPUs have other addresses), "lost", "mig", "mig-other" (with other
 * instances), "excess" (more memory in use than there is), "nvlink" (the first one busy, and both linked to
 * each other by links 0, 1 and 3, the last without a speed), "nvlink-switch", "nvlink-odd", "many-processes",
 * "odd-processes", "growing" (more processes at the second look), "draws" (a display server on each GPU),
 * "fickle" (other values at each call). Where FAKE_NVML_WHILE names a file, only as long as that exists. Each
 * GPU that is attached to, and whose links are asked about, is noted in FAKE_NVML_LOG. Built with OLD it has
 * the functions of an old driver only.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#define EXPORT __attribute__((visibility("default")))

#define SUCCESS 0
#define NOT_SUPPORTED 3
#define NO_PERMISSION 4
#define NOT_FOUND 6
#define INSUFFICIENT_SIZE 7
#define DRIVER_NOT_LOADED 9
#define GPU_IS_LOST 15
#define VERSION_MISMATCH 25
#define UNKNOWN 999

#define GIB (1024ULL * 1024 * 1024)

typedef struct Device {
        const char *address, *name;
        unsigned long long total, used, reserved;
        unsigned usage, celsius, milliwatts, mhz;
        unsigned processes; /* that compute */
        unsigned gpu_instance, compute_instance;
} Device;

static const Device dual[] = {
        { "00000000:01:00.0", "NVIDIA GeForce RTX 4090", 24 * GIB, 6 * GIB, GIB / 2, 61, 55, 310500, 2520, 2,
                0, 0 },
        { "00000000:02:00.0", "NVIDIA RTX A5000", 24 * GIB, GIB, GIB / 2, 0, 38, 22000, 210, 0, 0, 0 },
};
static const Device gb10 = { "0000000F:01:00.0", "NVIDIA GB10", 0, 0, 0, 12, 47, 18000, 2418, 1, 0, 0 };

static bool in_mode(const char *mode)
{
        const char *set = getenv("FAKE_NVML"), *file = getenv("FAKE_NVML_WHILE");

        return set && strcmp(set, mode) == 0 && (!file || access(file, F_OK) == 0);
}

/* In the mode "fickle", each call answers something else. */
static unsigned waver(unsigned value)
{
        static unsigned n;
        const unsigned values[] = { 0, ~0u, value, 101, 0x80000000 };

        return in_mode("fickle") ? values[n++ % G_N_ELEMENTS(values)] : value;
}

static void note(const char *text)
{
        const char *path = getenv("FAKE_NVML_LOG");
        FILE *file = path ? fopen(path, "ae") : NULL;

        if (!file)
                return;
        fprintf(file, "%s\n", text);
        fclose(file);
}

static void hang(void)
{
        for (;;)
                pause();
}

static int start(void)
{
        /* As libraries do, to where the answers go. */
        printf("fake NVML starts\n");
        fflush(stdout);
        if (in_mode("hang-init"))
                hang();
        return in_mode("init-error") ? DRIVER_NOT_LOADED : SUCCESS;
}

static int find(const char *address, const Device **ret)
{
        note(address);
        if (in_mode("lost"))
                return GPU_IS_LOST;
        if (in_mode("index"))
                return NOT_FOUND;
        if (in_mode("gb10") && strcmp(address, gb10.address) == 0) {
                *ret = &gb10;
                return SUCCESS;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(dual); i++)
                if (strcmp(address, dual[i].address) == 0) {
                        *ret = &dual[i];
                        return SUCCESS;
                }
        return NOT_FOUND;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses(const Device *device, unsigned *count, void *rows);
EXPORT int nvmlInit(void);
EXPORT const char *nvmlErrorString(int result);
EXPORT int nvmlDeviceGetHandleByPciBusId(const char *address, const Device **ret);
EXPORT int nvmlDeviceGetName(const Device *device, char *text, unsigned size);
EXPORT int nvmlDeviceGetMemoryInfo(const Device *device, unsigned long long ret[3]);
EXPORT int nvmlDeviceGetTemperature(const Device *device, int sensor, unsigned *ret);

int nvmlInit(void)
{
        return start();
}

const char *nvmlErrorString(int result)
{
        return result == DRIVER_NOT_LOADED ? "Driver Not Loaded"
               : result == GPU_IS_LOST     ? "GPU is lost"
                                           : "Unknown Error";
}

int nvmlDeviceGetHandleByPciBusId(const char *address, const Device **ret)
{
        return find(address, ret);
}

int nvmlDeviceGetName(const Device *device, char *text, unsigned size)
{
        if (in_mode("hang-sample"))
                hang();
        if (in_mode("crash")) {
                signal(SIGSEGV, SIG_DFL);
                raise(SIGSEGV);
        }
        if (in_mode("errors"))
                return UNKNOWN;
        g_strlcpy(text, in_mode("garbage") ? "\xff\xfe bad \x80" : device->name, size);
        return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(const Device *device, unsigned long long ret[3])
{
        if (in_mode("errors"))
                return UNKNOWN;
        if (device->total == 0 && !in_mode("zeros"))
                return NOT_SUPPORTED;
        ret[0] = device->total;
        ret[2] = device->used + device->reserved + (in_mode("excess") ? device->total : 0);
        ret[1] = ret[0] - ret[2];
        if (in_mode("garbage"))
                ret[0] = ret[2] = ~0ULL;
        return SUCCESS;
}

int nvmlDeviceGetTemperature(const Device *device, int sensor, unsigned *ret)
{
        if (in_mode("errors"))
                return UNKNOWN;
        if (device->celsius == 0)
                return NOT_SUPPORTED;
        *ret = in_mode("garbage") ? ~0u : device->celsius;
        return SUCCESS;
}

#ifdef OLD
EXPORT int nvmlDeviceGetFanSpeed(const Device *device, unsigned *ret);

int nvmlDeviceGetFanSpeed(const Device *device, unsigned *ret)
{
        *ret = waver(30);
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}
#endif

/* Processes have the numbers 4711 and on; the last one that computes on a whole GPU draws as well, besides a
 * display server, 900. */
static unsigned count_of(const Device *device, bool graphics)
{
        if (in_mode("garbage"))
                return ~0u;
        if (in_mode("many-processes"))
                return graphics ? 0 : 5000;
        if (!graphics)
                return device->processes;
        if (in_mode("draws") && device->address)
                return 1;
        return device->address && device->processes > 0 ? 2 : 0;
}

static unsigned pid_of(const Device *device, unsigned i, bool graphics)
{
        if (in_mode("odd-processes"))
                return i == 0 ? 0 : ~0u;
        return graphics ? (i == 0 ? 900 : 4710 + device->processes) : 4711 + i;
}

/* The rows of old drivers end after the memory, which is unknown of every other process. */
static int list_processes(const Device *device, unsigned *count, char *rows, bool graphics, size_t size)
{
        unsigned room = *count, n = count_of(device, graphics);

        if (in_mode("errors"))
                return UNKNOWN;
        *count = in_mode("growing") && rows ? n + 100 : n;
        if (*count > room)
                return INSUFFICIENT_SIZE;
        for (unsigned i = 0; rows && i < n; i++) {
                unsigned pid = pid_of(device, i, graphics);
                unsigned long long memory = pid == 4712 && !graphics ? ~0ULL : GIB + pid;

                memset(rows + i * size, 0xff, size);
                memcpy(rows + i * size, &pid, sizeof pid);
                memcpy(rows + i * size + 8, &memory, sizeof memory);
        }
        return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses(const Device *device, unsigned *count, void *rows)
{
        return list_processes(device, count, rows, false, 16);
}

#ifndef OLD
static const Device orin = { NULL, "Orin (nvgpu)", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

/* Of the first GPU. */
static const Device instances[] = {
        { NULL, "NVIDIA GeForce RTX 4090 MIG 1g.6gb", 6 * GIB, GIB, 0, 0, 0, 0, 0, 1, 7, 0 },
        { NULL, "NVIDIA GeForce RTX 4090 MIG 1g.6gb", 6 * GIB, 0, 0, 0, 0, 0, 0, 0, 8, 0 },
        { NULL, "NVIDIA GeForce RTX 4090 MIG 2g.12gb", 12 * GIB, 2 * GIB, 0, 0, 0, 0, 0, 2, 3, 1 },
};

static bool is_mig(const Device *device)
{
        return device == &dual[0] && (in_mode("mig") || in_mode("mig-other"));
}

typedef struct Memory2 {
        unsigned version;
        unsigned long long total, reserved, free, used;
} Memory2;

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *address, const Device **ret);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, const Device **ret);
EXPORT int nvmlDeviceGetMemoryInfo_v2(const Device *device, Memory2 *ret);
EXPORT int nvmlDeviceGetUtilizationRates(const Device *device, unsigned ret[2]);
EXPORT int nvmlDeviceGetPowerUsage(const Device *device, unsigned *ret);
EXPORT int nvmlDeviceGetClockInfo(const Device *device, int type, unsigned *ret);
EXPORT int nvmlDeviceGetMaxClockInfo(const Device *device, int type, unsigned *ret);
EXPORT int nvmlDeviceGetMemoryBusWidth(const Device *device, unsigned *ret);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(const Device *device, unsigned *ret);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(const Device *device, unsigned long long *ret);
EXPORT int nvmlDeviceGetNumFans(const Device *device, unsigned *ret);
EXPORT int nvmlDeviceGetFanSpeed_v2(const Device *device, unsigned fan, unsigned *ret);
EXPORT int nvmlDeviceGetEncoderUtilization(const Device *device, unsigned *ret, unsigned *ret_period);
EXPORT int nvmlDeviceGetDecoderUtilization(const Device *device, unsigned *ret, unsigned *ret_period);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const Device *device, unsigned long long *ret);

typedef struct Used {
        unsigned pid;
        unsigned long long timestamp;
        unsigned sm, memory, encoder, decoder;
} Used;

EXPORT int nvmlDeviceGetProcessUtilization(
        const Device *device, Used *samples, unsigned *count, unsigned long long since);
EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(const Device *device, unsigned *count, void *rows);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(const Device *device, unsigned *count, void *rows);
EXPORT int nvmlDeviceGetMigMode(const Device *device, unsigned *ret_current, unsigned *ret_pending);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(const Device *device, unsigned *ret);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(const Device *device, unsigned index, const Device **ret);
EXPORT int nvmlDeviceGetGpuInstanceId(const Device *device, unsigned *ret);
EXPORT int nvmlDeviceGetComputeInstanceId(const Device *device, unsigned *ret);

/* Only root sees the processes of a whole GPU in MIG mode. */
int nvmlDeviceGetComputeRunningProcesses_v3(const Device *device, unsigned *count, void *rows)
{
        return is_mig(device) ? NO_PERMISSION : list_processes(device, count, rows, false, 24);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(const Device *device, unsigned *count, void *rows)
{
        return is_mig(device) ? NO_PERMISSION : list_processes(device, count, rows, true, 24);
}

/* One used 40 % and 60 % of the GPU, and another one 30 % at a time between the same samples. */
int nvmlDeviceGetProcessUtilization(
        const Device *device, Used *samples, unsigned *count, unsigned long long since)
{
        unsigned room = *count;

        if (!device->address)
                return NOT_SUPPORTED;
        *count = device->processes > 0 ? 3 : 0;
        if (*count == 0)
                return NOT_FOUND;
        if (room < *count)
                return INSUFFICIENT_SIZE;
        samples[0] = (Used){ 4711, since + 1, in_mode("odd-processes") ? ~0u : 40, 1, 0, 0 };
        samples[1] = (Used){ 4711, since + 3, 10, 1, 60, 0 };
        samples[2] = (Used){ 4712, since + 2, 30, 1, 0, 0 };
        return SUCCESS;
}

int nvmlDeviceGetMigMode(const Device *device, unsigned *ret_current, unsigned *ret_pending)
{
        if (device != &dual[0])
                return NOT_SUPPORTED;
        *ret_current = *ret_pending = is_mig(device);
        return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(const Device *device, unsigned *ret)
{
        *ret = 7;
        return SUCCESS;
}

typedef struct Pci {
        char legacy[16];
        unsigned domain, bus, device, device_id, subsystem_id;
        char address[32];
} Pci;

typedef struct Field {
        unsigned id, scope;
        long long timestamp, latency;
        unsigned type;
        int result;
        union {
                double unused;
                unsigned number;
        } value;
} Field;

EXPORT int nvmlDeviceGetCudaComputeCapability(const Device *device, int *ret_major, int *ret_minor);
EXPORT int nvmlDeviceGetNvLinkState(const Device *device, unsigned link, unsigned *ret);
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(const Device *device, unsigned link, int *ret);
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(const Device *device, unsigned link, Pci *ret);
EXPORT int nvmlDeviceGetFieldValues(const Device *device, int n, Field *fields);

int nvmlDeviceGetCudaComputeCapability(const Device *device, int *ret_major, int *ret_minor)
{
        if (in_mode("errors"))
                return UNKNOWN;
        *ret_major = in_mode("garbage") ? -7 : 8;
        *ret_minor = device == &dual[0] ? 9 : 6;
        return SUCCESS;
}

int nvmlDeviceGetNvLinkState(const Device *device, unsigned link, unsigned *ret)
{
        bool direct = in_mode("nvlink"), switched = in_mode("nvlink-switch"), odd = in_mode("nvlink-odd");

        if (link == 0 && device->address) {
                g_autofree char *text = g_strdup_printf("links of %s", device->address);

                note(text);
        }
        if (!direct && !switched && !odd)
                return NOT_SUPPORTED;
        *ret = direct ? link < 4 && link != 2 : odd ? link < 2 : 1;
        return SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(const Device *device, unsigned link, int *ret)
{
        *ret = in_mode("nvlink-switch") ? 2 : in_mode("nvlink-odd") && link == 1 ? 255 : 0;
        return SUCCESS;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(const Device *device, unsigned link, Pci *ret)
{
        *ret = (Pci){};
        if (in_mode("nvlink-odd"))
                memset(ret, 'x', sizeof *ret);
        else
                g_strlcpy(ret->address,
                        in_mode("nvlink-switch") ? "00000000:0A:00.0"
                        : device == &dual[0]     ? dual[1].address
                                                 : dual[0].address,
                        sizeof ret->address);
        return SUCCESS;
}

/* The speed of a link and the temperature of the first GPU's memory are the only ones that are known. */
int nvmlDeviceGetFieldValues(const Device *device, int n, Field *fields)
{
        for (int i = 0; i < n; i++) {
                Field *field = &fields[i];

                field->result = field->id == 164 && field->scope != 3 ? SUCCESS : NOT_SUPPORTED;
                field->type = in_mode("nvlink-odd") ? 0 : 1;
                field->value.number = in_mode("nvlink-switch") ? 26562 : 25000;
                if (field->id != 82)
                        continue;
                field->result = device == &dual[0] && !in_mode("errors") ? SUCCESS : NOT_SUPPORTED;
                field->value.number = in_mode("garbage") ? ~0u : in_mode("nvlink") ? 0 : waver(88);
        }
        return SUCCESS;
}

/* Without the second one of those with a gap in their numbers. */
int nvmlDeviceGetMigDeviceHandleByIndex(const Device *device, unsigned index, const Device **ret)
{
        if (index >= G_N_ELEMENTS(instances) || (in_mode("mig-other") && index == 1))
                return NOT_FOUND;
        *ret = &instances[index];
        return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(const Device *device, unsigned *ret)
{
        *ret = device->gpu_instance;
        return SUCCESS;
}

int nvmlDeviceGetComputeInstanceId(const Device *device, unsigned *ret)
{
        *ret = device->compute_instance;
        return SUCCESS;
}

int nvmlInit_v2(void)
{
        note("init");
        return start();
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
        g_strlcpy(text, "550.54.14", size);
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, const Device **ret)
{
        return find(address, ret);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const Device **ret)
{
        if (in_mode("index") && index < G_N_ELEMENTS(dual)) {
                *ret = &dual[index];
                return SUCCESS;
        }
        if ((!in_mode("tegra") && !in_mode("zeros")) || index > 0)
                return NOT_FOUND;
        *ret = &orin;
        return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(const Device *device, Memory2 *ret)
{
        if (in_mode("errors"))
                return UNKNOWN;
        if (ret->version != (sizeof *ret | 2u << 24))
                return VERSION_MISMATCH;
        if (device->total == 0 && !in_mode("zeros"))
                return NOT_SUPPORTED;
        ret->total = in_mode("garbage") ? ~0ULL : device->total;
        ret->reserved = device->reserved;
        ret->used = device->used + (in_mode("excess") ? device->total : 0);
        ret->free = ret->total - ret->used - ret->reserved;
        return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(const Device *device, unsigned ret[2])
{
        if (in_mode("errors"))
                return UNKNOWN;
        if (device == &orin)
                return NOT_SUPPORTED;
        ret[0] = in_mode("garbage")                        ? 4294967295u
                 : in_mode("nvlink") && device->usage > 20 ? 95
                                                           : device->usage;
        ret[1] = 1;
        return SUCCESS;
}

int nvmlDeviceGetPowerUsage(const Device *device, unsigned *ret)
{
        if (in_mode("errors"))
                return UNKNOWN;
        if (device->milliwatts == 0)
                return NOT_SUPPORTED;
        *ret = in_mode("garbage") ? 0xdeadbeefu : device->milliwatts;
        return SUCCESS;
}

int nvmlDeviceGetClockInfo(const Device *device, int type, unsigned *ret)
{
        if (in_mode("errors"))
                return UNKNOWN;
        if (device->mhz == 0)
                return NOT_SUPPORTED;
        *ret = in_mode("garbage") ? ~0u : type == 2 ? 10501 : device->mhz;
        return type == 1 || type == 2 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMaxClockInfo(const Device *device, int type, unsigned *ret)
{
        *ret = 10501;
        return in_mode("errors") ? UNKNOWN : type == 2 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryBusWidth(const Device *device, unsigned *ret)
{
        *ret = 384;
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(const Device *device, unsigned *ret)
{
        *ret = waver(in_mode("garbage") ? ~0u : 450000);
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

/* The first one: idle (which is none), a cap on power, and too hot; the second one is idle. */
int nvmlDeviceGetCurrentClocksThrottleReasons(const Device *device, unsigned long long *ret)
{
        *ret = device == &dual[1] ? 0x1 : 0x1 | 0x4 | 0x40;
        if (in_mode("garbage"))
                *ret |= 0xff00000000000000;
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(const Device *device, unsigned long long *ret)
{
        *ret = in_mode("garbage") ? ~0ULL : waver(7200000);
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

int nvmlDeviceGetNumFans(const Device *device, unsigned *ret)
{
        *ret = waver(device == &dual[0] ? 3 : 0);
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

/* The last one is broken. */
int nvmlDeviceGetFanSpeed_v2(const Device *device, unsigned fan, unsigned *ret)
{
        *ret = waver(in_mode("garbage") || fan == 2 ? 255 : 45 - fan);
        return in_mode("errors") ? UNKNOWN : SUCCESS;
}

int nvmlDeviceGetEncoderUtilization(const Device *device, unsigned *ret, unsigned *ret_period)
{
        *ret = waver(in_mode("garbage") ? ~0u : 12);
        *ret_period = 167000;
        return in_mode("errors") ? UNKNOWN : device == &dual[0] ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetDecoderUtilization(const Device *device, unsigned *ret, unsigned *ret_period)
{
        *ret = waver(in_mode("garbage") ? ~0u : 34);
        *ret_period = 167000;
        return in_mode("errors") ? UNKNOWN : device == &dual[0] ? SUCCESS : NOT_SUPPORTED;
}
#endif
