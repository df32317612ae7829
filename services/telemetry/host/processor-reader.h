/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/telemetry/host/cpu-set.h"

/* Reads the files that describe processors. If a file that each CPU has, such as the size of a cache, is
 * broken for several of them, only the first is logged. */
typedef struct AldProcessorReader {
        int root;
        GHashTable *warned; /* names of files, relative to the folder of a CPU */
} AldProcessorReader;

/* The folder that has a folder for each CPU. */
#define ALD_CPUS_DIR "sys/devices/system/cpu"

/* These functions read a file below a folder. They return a negative errno, which is logged unless the file
 * does not exist. */
int ald_processor_read_string(AldProcessorReader *reader, const char *folder, const char *file, char **ret);
int ald_processor_read_uint64(
        AldProcessorReader *reader, const char *folder, const char *file, uint64_t *ret);
int ald_processor_read_cpus(AldProcessorReader *reader, const char *folder, const char *file, AldCpuSet *ret);

/* Logs what is wrong with such a file. */
void ald_processor_warn(AldProcessorReader *reader, const char *folder, const char *file, int error);
