/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "services/common/owner.h"
#include "services/telemetry/gpu/gpu-processes.h"

/*
 * The processes that hold devices at one time, from all sources: what NVML and KFD list, and what the witness
 * of processes reads. A process that several of them show on one device is one holder.
 */

/* Holders beyond these are only counted. */
#define ALD_HOLDERS_KEPT_MAX 4096u

typedef struct AldDeviceHolder {
        guint device; /* index in devices */
        guint pid;
        bool computes;         /* NVML or KFD says so, or an engine for computing has worked for it */
        uint64_t memory_bytes; /* absent if unknown */
        double usage;          /* percent; absent if unknown */

        /* These are known from the witness only. */
        const char *program, *user; /* NULL if unknown */
        uint64_t uid;               /* absent if unknown */
        AldOwner owner;
} AldDeviceHolder;

typedef struct AldHolderDevice {
        const char *id;
        const char *parent;    /* Id of the card of an instance, or NULL */
        uint64_t memory_bytes; /* its own; absent if unknown */
        bool is_known;         /* it is known who holds it */
        bool is_complete;      /* nobody else can hold it */
        bool is_unsure;        /* some process may compute on it unseen */
        bool is_nvml;          /* NVML lists all its holders */
        uint64_t n_compute;    /* as in AldGpuTarget */
        bool lists_compute;    /* NVML or KFD lists those that compute */

        /* As in AldGpuTarget, to find the device of a client. */
        const char *driver;
        GPtrArray *functions;

        /* Number of processes that work on it or its instances: all, and those that NVML does not list as
         * computing. Set by ald_work_watch_note(). */
        guint n_work, n_work_beyond;
} AldHolderDevice;

typedef struct AldHolderList {
        GArray *devices; /* of AldHolderDevice */
        GArray *holders; /* of AldDeviceHolder */
        uint64_t left_out;
        bool is_cut;    /* NVML knows more processes than it lists */
        bool must_rest; /* to ask the witness would wake a device, or keep it awake */
        bool is_paused; /* only for a short time */
        bool is_witnessed;

        GStringChunk *texts;
        GHashTable *places; /* "device,pid" → index in holders, plus 1 */
} AldHolderList;

/* Makes a list of what the devices (AldGpuTarget) and processes (AldGpuProcess) of NVML and KFD say, which it
 * copies; NVML knows `unlisted` processes more. */
AldHolderList *ald_holder_list_new(const GArray *targets, const GArray *processes, uint64_t unlisted);
void ald_holder_list_free(AldHolderList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHolderList, ald_holder_list_free)

/* Adds what the witness knows, once. */
void ald_holder_list_add_witnessed(AldHolderList *list, const AldProcessesAnswer *answer);

static inline AldHolderDevice *ald_holder_list_device(const AldHolderList *list, guint index)
{
        return &g_array_index(list->devices, AldHolderDevice, index);
}

static inline AldDeviceHolder *ald_holder_list_at(const AldHolderList *list, guint index)
{
        return &g_array_index(list->holders, AldDeviceHolder, index);
}

/* Finds a device by its Id. Returns NULL if there is none. */
AldHolderDevice *ald_holder_list_find(const AldHolderList *list, const char *id);
