/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/host/processor-reader.h"

/* The kernel's control of the processor clocks (cpufreq). */
typedef struct AldProcessorClocks {
        uint64_t base_hz, max_hz; /* of the fastest core, or absent */
        char *driver;             /* NULL if unknown */
        char **governors;         /* each once, sorted; NULL if unknown */
} AldProcessorClocks;

#define ALD_PROCESSOR_POLICIES_DIR ALD_CPUS_DIR "/cpufreq"

void ald_processor_clocks_read(AldProcessorReader *reader, AldProcessorClocks *ret);
void ald_processor_clocks_clear(AldProcessorClocks *clocks);

/* Returns whether a name in the folder of policies is a policy, which CPUs with a common clock share. */
bool ald_processor_is_policy(const char *name);
