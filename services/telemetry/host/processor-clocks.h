/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/host/processor-reader.h"

/* How the kernel controls the clocks of the processors (cpufreq). */
typedef struct AldProcessorClocks {
        uint64_t base_hz, max_hz; /* of the fastest core, or absent */
        char *driver;             /* NULL if unknown */
        char **governors;         /* each once, sorted; NULL if unknown */
} AldProcessorClocks;

#define ALD_PROCESSOR_POLICIES_DIR ALD_CPUS_DIR "/cpufreq"

void ald_processor_clocks_read(AldProcessorReader *reader, AldProcessorClocks *ret);
void ald_processor_clocks_clear(AldProcessorClocks *clocks);

/* Whether a name in the folder of policies is that of a policy, which the CPUs with a common clock have. */
bool ald_processor_is_policy(const char *name);
