/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "record/schema.h"
#include "services/telemetry/gpu/gpu-pcie.h"

/* The static facts about a device from one source. */
typedef struct AldGpuFacts {
        char *name;
        char *driver_version;
        char *architecture;
        char *runtime_version;       /* of OpenCL */
        uint64_t memory_total_bytes; /* its own, or what OpenCL reports, which may be of either kind */
        uint64_t shared_bytes;       /* of the host */
        int unified;
        bool vram_is_shared; /* amdgpu reports shared_bytes as VRAM */
} AldGpuFacts;

#define ALD_GPU_FACTS_INIT                                                                  \
        {                                                                                   \
                .memory_total_bytes = ALD_ABSENT_UINT64, .shared_bytes = ALD_ABSENT_UINT64, \
                .unified = ALD_ABSENT_BOOLEAN                                               \
        }

typedef struct AldGpuLive AldGpuLive;

/* A compute device: a row of Node1.Backends, and of the devices of Node1.System if it has a path. */
typedef struct AldGpu {
        char *id;   /* PCI address, platform device name, "cpu", OpenCL's name, or an instance's Id */
        char *path; /* its directory in sysfs below the root; NULL for the processor, and if only OpenCL knows
                       it */
        char *parent; /* Id of the card whose MIG instance this is, or NULL */
        AldBackendClass class;
        char *vendor;
        char *driver;
        char *fallback_name;  /* if no source provides a better one */
        uint16_t pci_vendor;  /* 0 if it is not on PCI */
        bool is_display;      /* a screen without a compute unit, unless OpenCL says otherwise */
        bool has_nvml;        /* NVML is queried about it */
        bool is_partitioned;  /* its driver provides partitions of it instead of the whole */
        GPtrArray *functions; /* PCI addresses of its virtual functions, which have no rows; or NULL */
        uint64_t host_memory; /* the most that a unified device may address */
        uint64_t all_memory;  /* its own, including what its driver reserves; absent if unknown */
        uint64_t numa_node;   /* absent if unknown */
        AldGpuPcie *pcie;     /* its route to the host, or NULL */
        GArray *nvlinks;      /* of AldGpuNvlinks, as NVML last reported them; NULL before */
        GArray *processes;    /* of AldGpuProcess, as NVML last listed them; NULL if unknown */
        AldGpuFacts sysfs, nvml, opencl;
        char *opencl_platform;
        AldGpuLive *live; /* reads its figures; NULL before ald_gpu_live_prepare(), and if it has no path */
} AldGpu;

AldGpu *ald_gpu_new(const char *id, const char *path, AldBackendClass class);
void ald_gpu_free(AldGpu *gpu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpu, ald_gpu_free)

/* A list of devices that owns them. */
GPtrArray *ald_gpu_list_new(void);
AldGpu *ald_gpu_list_find(const GPtrArray *gpus, const char *id);

/* Removes the device with this Id from the list and returns it; NULL if there is none. */
AldGpu *ald_gpu_list_take(GPtrArray *gpus, const char *id);

void ald_gpu_facts_clear(AldGpuFacts *facts);
bool ald_gpu_facts_equal(const AldGpuFacts *a, const AldGpuFacts *b);

/* Returns whether sysfs shows the same facts for both. */
bool ald_gpu_equal(const AldGpu *a, const AldGpu *b);

/* Adds another PCI address of the same card. */
void ald_gpu_add_function(AldGpu *gpu, const char *address);
bool ald_gpu_has_function(const AldGpu *gpu, const char *address);

/* Returns whether it computes in host memory: 1, 0 or ALD_ABSENT_BOOLEAN. */
int ald_gpu_unified(const AldGpu *gpu);

/* Returns whether it is a GPU of Windows in WSL2. Its PCI device has neither the vendor nor the address of
 * the card; it is reported once NVML or OpenCL knows it. */
bool ald_gpu_is_of_windows(const AldGpu *gpu);

/* Returns whether the device is reported, as a row. */
bool ald_gpu_is_shown(const AldGpu *gpu);

/* Fills in the row of the device, which keeps ownership of the strings. */
void ald_gpu_backend(const AldGpu *gpu, AldBackend *ret);
