/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/telemetry/helper/nvml-api.h"

/* The processes that hold GPUs, by NVML's lists and its samples of who used what. */

/* At most this many are listed; the rest is counted. Maximum of Processes in the answer. */
#define ALD_NVML_PROCESSES_MAX 1024u

typedef struct AldNvmlProcesses {
        GArray *rows; /* of AldNvmlProcess */
        unsigned most;
        guint64 unlisted;
} AldNvmlProcesses;

/* Adds the processes of a GPU or MIG instance with this Id. Ids of rows are put into `texts`, and `id` must
 * live as long. */
void ald_nvml_processes_read(const AldNvml *nvml, AldNvmlHandle *device, const char *id, GStringChunk *texts,
        AldNvmlProcesses *ret);
