/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * The parts of NVML that are used, declared according to its documentation. Each function is looked up by its
 * name at run time: one that the driver lacks is NULL, and its field is absent.
 */

#define ALD_NVML_SUCCESS 0
#define ALD_NVML_NOT_SUPPORTED 3
#define ALD_NVML_NOT_FOUND 6
#define ALD_NVML_INSUFFICIENT_SIZE 7
#define ALD_NVML_FUNCTION_NOT_FOUND 13
#define ALD_NVML_TEXT_MAX 96u
#define ALD_NVML_CLOCK_GRAPHICS 0
#define ALD_NVML_CLOCK_SM 1
#define ALD_NVML_CLOCK_MEMORY 2
#define ALD_NVML_TEMPERATURE_GPU 0
#define ALD_NVML_MIG_ENABLED 1u

/* Maximum per card; NVIDIA supports seven. */
#define ALD_NVML_INSTANCES_MAX 16u

/* Maximum number of NVLinks per card. */
#define ALD_NVML_LINKS_MAX 18u
#define ALD_NVML_LINK_ACTIVE 1u
#define ALD_NVML_REMOTE_GPU 0
#define ALD_NVML_REMOTE_SWITCH 2

/* Maximum number of fans per card. */
#define ALD_NVML_FANS_MAX 16u

/* The field with the temperature of the memory in °C. */
#define ALD_NVML_FIELD_MEMORY_TEMPERATURE 82u

/* The field with the speed of a link in each direction; the scope of the field is the number of the link. The
 * unit is 10^6 bytes per second (NVIDIA's "MBps"), and line coding is included: 26562 for a link that moves
 * 25 GB/s of data. */
#define ALD_NVML_FIELD_LINK_SPEED 164u
#define ALD_NVML_TYPE_UNSIGNED_INT 1u

typedef struct AldNvmlHandle AldNvmlHandle; /* opaque */

typedef struct AldNvmlUtilization {
        unsigned gpu; /* percent */
        unsigned memory;
} AldNvmlUtilization;

typedef struct AldNvmlMemory {
        unsigned long long total, free, used; /* bytes; used includes what the driver reserves */
} AldNvmlMemory;

typedef struct AldNvmlMemory2 {
        unsigned version;
        unsigned long long total, reserved, free, used; /* bytes */
} AldNvmlMemory2;

typedef struct AldNvmlTemperature {
        unsigned version;
        int sensor;
        int temperature; /* °C */
} AldNvmlTemperature;

typedef struct AldNvmlPci {
        char legacy_address[16];
        unsigned domain, bus, device, device_id, subsystem_id;
        char address[32];
} AldNvmlPci;

typedef struct AldNvmlField {
        unsigned id, scope;
        long long timestamp, latency;
        unsigned type;
        int result;
        union {
                double unused;
                unsigned number;
        } value;
} AldNvmlField;

/* One sample of what a process used of a GPU, in percent. */
typedef struct AldNvmlUsed {
        unsigned pid;
        unsigned long long timestamp;
        unsigned sm, memory, encoder, decoder;
} AldNvmlUsed;

typedef int (*AldNvmlListProcesses)(AldNvmlHandle *device, unsigned *count, void *rows);

/* The value of the first member, `version`, of a versioned struct. */
#define ALD_NVML_VERSION(type, number) ((unsigned) (sizeof(type) | ((unsigned) (number) << 24)))

typedef struct AldNvml {
        void *library;
        int (*init)(void);
        const char *(*error_string)(int result);
        int (*driver_version)(char *text, unsigned size);
        int (*handle_by_pci)(const char *address, AldNvmlHandle **ret);
        int (*handle_by_index)(unsigned index, AldNvmlHandle **ret);
        int (*name)(AldNvmlHandle *device, char *text, unsigned size);
        int (*memory2)(AldNvmlHandle *device, AldNvmlMemory2 *ret);
        int (*memory)(AldNvmlHandle *device, AldNvmlMemory *ret);
        int (*utilization)(AldNvmlHandle *device, AldNvmlUtilization *ret);
        int (*temperature_v)(AldNvmlHandle *device, AldNvmlTemperature *ret);
        int (*temperature)(AldNvmlHandle *device, int sensor, unsigned *ret);
        int (*power)(AldNvmlHandle *device, unsigned *ret_milliwatts);
        int (*clock)(AldNvmlHandle *device, int type, unsigned *ret_mhz);
        int (*power_limit)(AldNvmlHandle *device, unsigned *ret_milliwatts);
        int (*energy)(AldNvmlHandle *device, unsigned long long *ret_millijoules);
        int (*n_fans)(AldNvmlHandle *device, unsigned *ret);
        int (*fan)(AldNvmlHandle *device, unsigned number, unsigned *ret_percent);
        int (*only_fan)(AldNvmlHandle *device, unsigned *ret_percent);
        int (*clock_reasons)(AldNvmlHandle *device, unsigned long long *ret);
        int (*encoder)(AldNvmlHandle *device, unsigned *ret_percent, unsigned *ret_period_usec);
        int (*decoder)(AldNvmlHandle *device, unsigned *ret_percent, unsigned *ret_period_usec);
        /* With a *count of 0 it only counts, so the layout of the rows does not matter. */
        int (*compute_processes)(AldNvmlHandle *device, unsigned *count, void *none);
        /* Lists of one version; of the oldest one, rows are shorter. */
        AldNvmlListProcesses list_compute, list_graphics;
        bool has_old_processes;
        int (*process_utilization)(
                AldNvmlHandle *device, AldNvmlUsed *samples, unsigned *count, unsigned long long since);
        int (*mig_mode)(AldNvmlHandle *device, unsigned *ret_current, unsigned *ret_pending);
        int (*mig_count)(AldNvmlHandle *device, unsigned *ret_most);
        int (*mig_handle)(AldNvmlHandle *device, unsigned index, AldNvmlHandle **ret);
        int (*gpu_instance)(AldNvmlHandle *instance, unsigned *ret);
        int (*compute_instance)(AldNvmlHandle *instance, unsigned *ret);
        int (*compute_capability)(AldNvmlHandle *device, int *ret_major, int *ret_minor);
        int (*link_state)(AldNvmlHandle *device, unsigned link, unsigned *ret_active);
        int (*link_remote_type)(AldNvmlHandle *device, unsigned link, int *ret);
        int (*link_remote)(AldNvmlHandle *device, unsigned link, AldNvmlPci *ret);
        int (*fields)(AldNvmlHandle *device, int n, AldNvmlField *fields);
} AldNvml;

/* Loads the library, libnvidia-ml.so.1 or the one that ALIDADE_NVML_LIBRARY names. Returns NULL, or why it
 * could not be loaded. */
const char *ald_nvml_load(AldNvml *nvml);

/* Initializes the library and returns its result. From nvmlInit_v2 on it attaches to a GPU only when its
 * handle is looked up; with nvmlInitWithFlags and NVML_INIT_FLAG_NO_ATTACH it would then find none (driver
 * 580). */
int ald_nvml_init(const AldNvml *nvml);

/* Describes a result. */
const char *ald_nvml_explain(const AldNvml *nvml, int result);
