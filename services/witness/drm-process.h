/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/witness/drm-fdinfo.h"
#include "services/witness/process-facts.h"

/* A device that a process has open: the sum of its clients there. */
typedef struct AldDrmHold {
        AldFdinfo sum;
        double usage;      /* since the process was last read; absent the first time */
        unsigned n_shared; /* clients that count for another process */
} AldDrmHold;

/* A process that has devices open. */
typedef struct AldDrmProcess {
        unsigned pid;
        uint64_t started;  /* as ald_process_start() */
        gint64 read_usec;  /* when it was read */
        gint64 cost_usec;  /* how long that took */
        uint64_t n_answer; /* for which answer */
        AldProcessFacts facts;
        GArray *holds;               /* of AldDrmHold */
        uint64_t memory_bytes, busy; /* of all holds, as far as they are known */
} AldDrmProcess;

/* At most so many descriptors of one process are read, for at most so long. Servers have thousands. */
#define ALD_DRM_DESCRIPTORS_MAX 16384u
#define ALD_DRM_READING_USEC (100 * G_TIME_SPAN_MILLISECOND)

/* All processes as they were last read, and where each client counts: a forked process has the descriptors of
 * its parent, and holds nothing more by that. It counts for the process in which it was found first, as long
 * as that has it. */
typedef struct AldDrmHolders {
        int root;              /* as in services/common/sysroot.h */
        GHashTable *processes; /* pid → AldDrmProcess */
        GHashTable *owners;    /* "device,client" → where it counts */
} AldDrmHolders;

/* Limits the clients whose process is remembered, of all processes and of one. Clients beyond them count for
 * each process that has them open. */
#define ALD_DRM_OWNERS_MAX 16384u
#define ALD_DRM_OWNED_MAX 256u

void ald_drm_holders_init(AldDrmHolders *holders, int root);
void ald_drm_holders_clear(AldDrmHolders *holders);

/* Forgets where clients count that are not held there any longer. */
void ald_drm_holders_prune(AldDrmHolders *holders);

/*
 * Reads the descriptors of a process, without looking at which files they are of: that would need another
 * capability. Returns NULL if none is of a device, or the process has ended. *ret_complete is set to false if
 * not all of them could be read.
 */
AldDrmProcess *ald_drm_process_read(AldDrmHolders *holders, unsigned pid, bool *ret_complete);
void ald_drm_process_free(AldDrmProcess *process);

/* Compares how much processes hold: less than 0 if the first one holds more. */
int ald_drm_process_compare_held(const AldDrmProcess *first, const AldDrmProcess *second);

/* Computes the usage since the same process was read before. */
void ald_drm_process_compare(AldDrmProcess *process, const AldDrmProcess *before);
