/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/gpu/gpu-device.h"
#include "services/telemetry/gpu/gpu-kfd.h"

/* A process that holds a device, as NVML or KFD lists it. Its texts are valid as long as the devices. */
typedef struct AldGpuProcess {
        const char *device; /* Id; of a card in MIG mode, an instance */
        guint pid;
        bool computes;         /* is in NVML's list of compute processes, or has queues of KFD */
        uint64_t memory_bytes; /* absent if unknown */
        double usage;          /* percent; absent if unknown */
} AldGpuProcess;

/* A device that processes may hold. */
typedef struct AldGpuTarget {
        const char *id;
        const char *parent; /* Id of the card of a MIG instance, or NULL */
        const char *driver;
        GPtrArray *functions;  /* PCI addresses of its virtual functions, or NULL */
        uint64_t memory_bytes; /* its own; absent if it has none or it is unknown */
        uint64_t n_compute;    /* processes in NVML's list of those that compute; absent without it */
        bool is_listed;        /* NVML or KFD lists its processes at present */
        bool is_listed_fully;  /* by NVML, also those that draw */
        bool must_rest;        /* it sleeps or should, and reading fdinfo of its processes would wake it */
        bool is_paused;        /* it should, and is looked at again within a minute */
} AldGpuTarget;

/* Replaces the processes of the cards and instances by those of NVML's answer, if it lists processes; NULL
 * once NVML no longer works. */
void ald_gpu_processes_apply(GPtrArray *gpus, const AldNvmlAnswer *answer);

/* Appends all devices (AldGpuTarget) of the list with a path or a card, and their processes
 * (AldGpuProcess). */
void ald_gpu_processes_list(
        const GPtrArray *gpus, const AldGpuKfd *kfd, GArray *ret_targets, GArray *ret_processes);
