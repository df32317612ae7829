/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "services/telemetry/host/cpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is two samples, separated by a NUL byte. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *before_text = g_strndup((const char *) data, size);
        size_t used = MIN(strlen(before_text) + 1, size);
        g_autofree char *after_text = g_strndup((const char *) data + used, size - used);
        AldCpuTimes before = { 0 }, after = { 0 };
        double usage;

        ald_cpu_times_parse(before_text, &before);
        ald_cpu_times_parse(after_text, &after);
        usage = ald_cpu_usage(&before, &after);
        g_assert_true(isnan(usage) || (usage >= 0 && usage <= 100));
        return 0;
}
