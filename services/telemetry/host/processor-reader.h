/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/telemetry/host/cpu-set.h"

/* Reads the files that describe processors. Of those that each CPU has, such as the size of its caches, only
 * the first that is broken is logged. */
typedef struct AldProcessorReader {
        int root;
        GHashTable *warned; /* names of files, as they follow the folder of a CPU */
} AldProcessorReader;

/* The folders of all CPUs. */
#define ALD_CPUS_DIR "sys/devices/system/cpu"

/* Each reads a file below a folder, and returns a negative errno, which is logged unless the file does not
 * exist. */
int ald_processor_read_string(AldProcessorReader *reader, const char *folder, const char *file, char **ret);
int ald_processor_read_uint64(
        AldProcessorReader *reader, const char *folder, const char *file, uint64_t *ret);
int ald_processor_read_cpus(AldProcessorReader *reader, const char *folder, const char *file, AldCpuSet *ret);

/* Logs what is wrong with such a file. */
void ald_processor_warn(AldProcessorReader *reader, const char *folder, const char *file, int error);
