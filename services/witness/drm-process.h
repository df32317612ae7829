/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/witness/drm-fdinfo.h"
#include "services/witness/process-facts.h"

/* A device that a process has open: the sum of its clients there. */
typedef struct AldDrmHold {
        AldFdinfo sum;
        double usage; /* since the process was last read; absent the first time */
} AldDrmHold;

/* A process that has devices open. */
typedef struct AldDrmProcess {
        unsigned pid;
        uint64_t started;  /* as ald_process_start() */
        gint64 read_usec;  /* when it was read */
        gint64 cost_usec;  /* how long that took */
        uint64_t n_answer; /* for which answer */
        AldProcessFacts facts;
        GArray *holds; /* of AldDrmHold */
} AldDrmProcess;

/* At most so many descriptors of one process are read, for at most so long. */
#define ALD_DRM_DESCRIPTORS_MAX 4096u
#define ALD_DRM_READING_USEC (100 * G_TIME_SPAN_MILLISECOND)

/*
 * Reads the descriptors of a process, without looking at which files they are of: that would need another
 * capability. Returns NULL if none is of a device, or the process has ended. *ret_complete is set to false if
 * not all of them could be read.
 */
AldDrmProcess *ald_drm_process_read(int root, unsigned pid, bool *ret_complete);
void ald_drm_process_free(AldDrmProcess *process);

/* Computes the usage since the same process was read before. */
void ald_drm_process_compare(AldDrmProcess *process, const AldDrmProcess *before);
