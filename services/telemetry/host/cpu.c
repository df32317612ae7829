/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/field.h"
#include "services/telemetry/host/cpu.h"
#include "services/telemetry/host/kept-file.h"

/* The first line of /proc/stat has ten numbers of at most 20 digits. */
#define LINE_MAX_BYTES 256u

struct AldCpuCollector {
        AldKeptFile stat;
        AldCpuTimes last;
        bool have_last;
};

AldCpuCollector *ald_cpu_collector_new(int root)
{
        AldCpuCollector *collector = g_new0(AldCpuCollector, 1);

        ald_kept_file_init(&collector->stat, root, "proc/stat");
        return collector;
}

void ald_cpu_collector_free(AldCpuCollector *collector)
{
        ald_kept_file_clear(&collector->stat);
        g_free(collector);
}

static bool read_times(AldKeptFile *file, AldCpuTimes *ret)
{
        char line[LINE_MAX_BYTES];

        if (ald_kept_file_read(file, line, sizeof line) < 0)
                return false;
        if (ald_cpu_times_parse(line, ret))
                return true;
        ald_kept_file_warn(file, -EBADMSG);
        return false;
}

double ald_cpu_collector_sample(AldCpuCollector *collector)
{
        AldCpuTimes before = collector->last;
        bool had_last = collector->have_last;

        collector->have_last = read_times(&collector->stat, &collector->last);
        if (!had_last || !collector->have_last)
                return ALD_ABSENT_DOUBLE;
        return ald_cpu_usage(&before, &collector->last);
}
