/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "services/telemetry/cpu.h"
#include "services/telemetry/kept-file.h"
#include "state/field.h"

/* The first line of /proc/stat: ten numbers of at most 20 digits. */
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

bool ald_cpu_times_parse(const char *text, AldCpuTimes *ret)
{
        AldCpuTimes times = { 0 };
        size_t n = 0;

        if (!g_str_has_prefix(text, "cpu "))
                return false;
        for (text += strlen("cpu"); *text == ' ' && n < ALD_CPU_N_TIMES; n++) {
                char *end;

                text += strspn(text, " ");
                if (!g_ascii_isdigit(*text))
                        return false;
                errno = 0;
                times.ticks[n] = strtoull(text, &end, 10);
                if (errno != 0)
                        return false;
                text = end;
        }
        /* A number at the end of the text may be half a number. */
        if (n <= ALD_CPU_IDLE || (*text != '\n' && *text != ' '))
                return false;
        *ret = times;
        return true;
}

/* Single times step back when a processor is taken out, or by rounding; nothing passed then. */
static double passed(const AldCpuTimes *before, const AldCpuTimes *after, int time)
{
        uint64_t from = before->ticks[time], to = after->ticks[time];

        return to > from ? (double) (to - from) : 0;
}

double ald_cpu_usage(const AldCpuTimes *before, const AldCpuTimes *after)
{
        double busy = 0, idle = 0;

        for (int i = 0; i < ALD_CPU_N_TIMES; i++)
                *(i == ALD_CPU_IDLE || i == ALD_CPU_IOWAIT ? &idle : &busy) += passed(before, after, i);
        return busy + idle > 0 ? 100 * (busy / (busy + idle)) : ALD_ABSENT_DOUBLE;
}

static bool read_times(AldKeptFile *file, AldCpuTimes *ret)
{
        char line[LINE_MAX_BYTES];

        if (ald_kept_file_read(file, line, sizeof line) < 0)
                return false;
        if (ald_cpu_times_parse(line, ret))
                return true;
        ald_kept_file_complain(file, -EBADMSG);
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
